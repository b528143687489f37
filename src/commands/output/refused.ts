/** How a command that threw is told: for a person on stderr, and with `--json` on stdout too, as refusals that commands find themselves. */
import { ConfigError } from '../../config/config-error.ts'
import { formatProblem } from '../../config/problem.ts'
import { escapeLine } from '../../config/words/printable.ts'
import { UsageError } from '../command.ts'
import type { Io } from '../command.ts'
import { reasonOf, sentenceOf } from './file-error.ts'
import type { Lost } from './output.ts'

/** Says why nothing was done; returns the exit code. `args` are all words of the command line, `usage` what helps with wrong ones. */
export function tellRefused(error: unknown, args: readonly string[], io: Io, usage?: string): number {
  const sentence = sentenceOf(error)
  const problems = error instanceof ConfigError ? error.problems.map(formatProblem) : []
  if (asksJson(args)) io.out(JSON.stringify({ error: [...problems, sentence].join('\n') }))
  for (const problem of problems) io.err(problem)
  const isUsage = error instanceof UsageError
  io.err(`tollgate: ${escapeLine(sentence)}${isUsage && usage !== undefined ? `\n\n${usage}` : ''}`)
  return isUsage ? 2 : 1
}

/** Says that the result of a command could not be written, and what was done all the same; returns the exit code. */
export function tellLost({ error, done }: Lost, code: number, io: Io): number {
  io.err(`tollgate: stdout cannot be written: ${reasonOf(error)}${done === '' ? '' : `; ${done}`}`)
  return code === 0 ? 1 : code
}

/** Whether the words have `--json` as an option; they may be those that cannot be read. */
export function asksJson(args: readonly string[]): boolean {
  const end = args.indexOf('--')
  return (end === -1 ? args : args.slice(0, end)).includes('--json')
}
