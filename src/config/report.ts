import type { Evaluated } from './yaml/evaluate.ts'
import type { Finding } from './finding.ts'
import { placeOf } from './yaml/parse.ts'
import { formatPath } from './yaml/path.ts'
import { keyPlace, valuePlace, type Place } from './yaml/place.ts'
import type { Problem } from './problem.ts'

/** A finding with its place in the file's text. */
export function problemOf(finding: Finding, file: Evaluated): Problem {
  const { message, hint, kind, severity = 'error' } = finding
  const path = formatPath(finding.path)
  const said = hint === undefined ? { message } : { message, hint }
  const known = kind === undefined ? {} : { kind }
  return { file: finding.file, ...placeIn(file, finding), path, severity, ...known, ...said }
}

function placeIn(file: Evaluated, { at, path }: Finding): Place {
  if (typeof at === 'number') return placeOf(file.nodes().lines, at)
  return at === 'key' ? keyPlace(file, path) : valuePlace(file, path)
}

/** Sorted by file, line and column, the first of each place only: one finding can be seen from two sides. */
export function inOrder(problems: readonly Problem[]): Problem[] {
  const places = new Map<string, Problem>()
  for (const problem of problems) {
    const place = `${problem.file}:${problem.line}:${problem.column}`
    if (!places.has(place)) places.set(place, problem)
  }
  return [...places.values()].sort(
    (a, b) => compare(a.file, b.file) || a.line - b.line || a.column - b.column,
  )
}

function compare(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
