/** Rows of the ledger as series over time, the largest first. */
import type { UsageRow } from '../api/types.ts'
import { groupRows, sumOf } from './sums.ts'
import type { Sum } from './sums.ts'

/** Series with a colour of their own; the smaller ones are shown as one. */
export const COLOURS = 6

/** What one endpoint or method used at each step. */
export interface Series {
  readonly label: string
  /** Which colour: its rank, or COLOURS for all others together. */
  readonly colour: number
  readonly requests: readonly number[]
  readonly sum: Sum
}

/** One series for each group of rows; what is beyond the colours is one series named after its number. */
export function seriesOf(
  rows: readonly UsageRow[],
  steps: readonly number[],
  labelOf: (row: UsageRow) => string,
): readonly Series[] {
  // What the gateway has summed up already, and how many groups that is.
  const rest = rows.filter(({ other }) => other !== undefined)
  const named = rows.filter(({ other }) => other === undefined)
  const groups = [...groupRows(named, labelOf)].map(([label, rows]) => ({ label, rows, sum: sumOf(rows) }))
  groups.sort((a, b) => b.sum.requests - a.sum.requests)
  const own = rest.length === 0 && groups.length <= COLOURS + 1 ? groups : groups.slice(0, COLOURS)
  const others = [...groups.slice(own.length).flatMap(({ rows }) => rows), ...rest]
  const shown = own.map(({ label, rows }) => ({ label, rows }))
  const count = groups.length - own.length + (rest[0]?.other ?? 0)
  if (others.length > 0) shown.push({ label: `${count} others`, rows: others })
  return shown.map(({ label, rows }, rank) => ({
    ...{ label, colour: Math.min(rank, COLOURS), requests: overTime(rows, steps), sum: sumOf(rows) },
  }))
}

function overTime(rows: readonly UsageRow[], steps: readonly number[]): number[] {
  const at = new Map(steps.map((time, i) => [time, i]))
  const values = steps.map(() => 0)
  for (const { time, requests } of rows) {
    const i = at.get(time)
    if (i !== undefined) values[i] = values[i]! + requests
  }
  return values
}

/** Each series on top of those after it, so that drawing them in order leaves every one visible. */
export function stack(series: readonly Series[]): number[][] {
  const below: number[] = []
  return series
    .toReversed()
    .map(({ requests }) => requests.map((value, i) => (below[i] = (below[i] ?? 0) + value)))
    .toReversed()
}
