import type { Problem } from '../../src/config/problem.ts'

const WIDEST = 100

/** The line a problem points at, with a mark under its place. */
export function excerpt({ file, line, column }: Problem, files: Readonly<Record<string, string>>): string[] {
  const text = files[file]?.split('\n')[line - 1]
  if (text === undefined || text === '') return []
  const from = column > WIDEST - 20 ? column - 40 : 0
  return [`    ${text.slice(from, from + WIDEST)}`, `    ${' '.repeat(column - 1 - from)}^`]
}
