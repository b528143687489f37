import type { Kind } from './kinds.ts'
import { escapeLine } from './words/printable.ts'

/** One finding in the YAML, with the place an operator has to edit. Line and column are 1-based. */
export interface Problem {
  /** File name relative to the configuration directory, such as `routes.yaml`. */
  readonly file: string
  readonly line: number
  readonly column: number
  /** Where in the document, such as `routes[0].capabilities[1]`; empty for the document itself. */
  readonly path: string
  readonly severity: 'error' | 'warning'
  /** Of a warning: what `acknowledge` in gateway.yaml silences it by, such as `no-route:debug`. */
  readonly kind?: Kind
  readonly message: string
  /** What to do about it, such as `did you mean "trace"?`. */
  readonly hint?: string
}

/** Warnings that gateway.yaml does not acknowledge, and all errors. */
export function unacknowledged(problems: readonly Problem[], acknowledged: readonly string[]): Problem[] {
  return problems.filter(({ kind }) => kind === undefined || !acknowledged.includes(kind))
}

/** One line, whatever the file holds: `routes.yaml:5:29 routes[0].capabilities[1]: "tracee" is not a known capability; did you mean "trace"?` */
export function formatProblem(problem: Problem): string {
  const { file, line, column, path, severity, kind, message, hint } = problem
  const place = `${file}:${line}:${column}${path === '' ? '' : ` ${path}`}`
  const warning = severity === 'warning' ? 'warning: ' : ''
  const more = `${hint === undefined ? '' : `; ${hint}`}${kind === undefined ? '' : ` [${kind}]`}`
  return escapeLine(`${place}: ${warning}${message}${more}`)
}
