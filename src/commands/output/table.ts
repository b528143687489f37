import { escapeLine } from '../../config/words/printable.ts'
import { LATEST } from '../../ports/clock.ts'

/** Cells of a row. */
type Cells = readonly (string | number)[]

/** Lines up rows under their headings, for a person. */
export function table(headings: readonly string[], rows: readonly Cells[]): string[] {
  return [...tableInBlocks(headings, rows, Infinity)]
}

/** The same line by line, for more rows than fit in memory: columns are as wide as what came up to the end of a block of so many rows. */
export function* tableInBlocks(
  headings: readonly string[],
  rows: Iterable<Cells>,
  block = 1000,
): Generator<string> {
  const widths = headings.map(heading => heading.length)
  let right: readonly boolean[] | null = null
  for (const some of blocksOf(rows, block)) {
    for (const row of some)
      row.forEach((cell, column) => {
        widths[column] = Math.max(widths[column] ?? 0, textOf(cell).length)
      })
    if (right === null) {
      right = headings.map((_, column) => some.every(row => typeof row[column] === 'number'))
      yield lineOf(headings, widths, right)
    }
    for (const row of some) yield lineOf(row, widths, right)
  }
  if (right === null) yield lineOf(headings, widths, [])
}

function* blocksOf(rows: Iterable<Cells>, most: number): Generator<readonly Cells[]> {
  let block: Cells[] = []
  for (const row of rows) {
    block.push(row)
    if (block.length < most) continue
    yield block
    block = []
  }
  if (block.length > 0) yield block
}

function lineOf(cells: Cells, widths: readonly number[], right: readonly boolean[]): string {
  return cells
    .map((cell, column) => {
      const width = widths[column] ?? 0
      return right[column] === true ? textOf(cell).padStart(width) : textOf(cell).padEnd(width)
    })
    .join('  ')
    .trimEnd()
}

function textOf(cell: string | number): string {
  return typeof cell === 'number' ? String(cell) : escapeLine(cell)
}

/** A moment in UTC, to the second. */
export function moment(unixSeconds: number): string {
  return isoTime(unixSeconds).replace('T', ' ').replace('Z', ' UTC')
}

/** The same for a program: ISO 8601, such as `2026-11-20T14:00:00Z`. A time that no calendar shows, which a file may hold, stays a number. */
export function isoTime(unixSeconds: number): string {
  if (unixSeconds > LATEST) return String(unixSeconds)
  return new Date(unixSeconds * 1000).toISOString().replace('.000Z', 'Z')
}
