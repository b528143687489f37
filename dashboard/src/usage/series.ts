/** Rows of the ledger as series over time, the largest first. */
import type { UsageRow } from '../api/types.ts'
import type { Split } from './choice.ts'
import { valueOf } from './measures.ts'
import type { Measure } from './measures.ts'
import { groupRows, sumOf } from './sums.ts'
import type { Sum } from './sums.ts'

/** Series with a colour of their own; the smaller ones are shown as one. */
export const COLOURS = 6

/** An endpoint, method, network or reason. */
export interface Group {
  /** Its id or name; null for several groups that the gateway has summed up. */
  readonly id: string | null
  readonly sum: Sum
  /** How many groups it stands for. */
  readonly groups: number
}

/** What some groups come to at each step. */
export interface Series {
  /** Its id or name; null for all that have no series of their own. */
  readonly id: string | null
  /** Which colour: its rank, or COLOURS for all others together. */
  readonly colour: number
  readonly values: readonly number[]
}

/** What a row belongs to; null where it stands for the smaller groups. */
export function idOf(row: UsageRow, split: Split): string | null {
  if (row.other !== undefined) return null
  return split === 'endpoint' ? row.endpointId : (row[split] ?? '')
}

/** The groups of rows without time, the largest first; what stands for others comes last. */
export function groupsOf(rows: readonly UsageRow[], split: Split, measure: Measure): readonly Group[] {
  const groups = rows.map(row => ({ id: idOf(row, split), sum: sumOf([row]), groups: row.other ?? 1 }))
  const rank = ({ id, sum }: Group): number => (id === null ? -1 : valueOf(measure, sum))
  return groups.sort((a, b) => rank(b) - rank(a) || b.sum.requests - a.sum.requests)
}

/** A series for each of the groups that have one, and one for all others. */
export function seriesOf(
  rows: readonly UsageRow[],
  steps: readonly number[],
  split: Split,
  measure: Measure,
): readonly Series[] {
  const byId = groupRows(rows, row => idOf(row, split) ?? '')
  const named = [...byId].filter(([, [first]]) => first?.other === undefined)
  const ranked = named
    .map(([id, rows]) => ({ id, rows, value: valueOf(measure, sumOf(rows)) }))
    .sort((a, b) => b.value - a.value)
  const hasRest = named.length < byId.size
  const own = !hasRest && ranked.length <= COLOURS + 1 ? ranked : ranked.slice(0, COLOURS)
  const others = rows.filter(row => !own.some(({ id }) => id === idOf(row, split)))
  const all: { id: string | null; rows: readonly UsageRow[] }[] = [...own]
  if (others.length > 0) all.push({ id: null, rows: others })
  return all.map(({ id, rows }, rank) => ({
    id,
    colour: Math.min(rank, COLOURS),
    values: overTime(rows, steps, measure),
  }))
}

/** The value at each step. */
export function overTime(rows: readonly UsageRow[], steps: readonly number[], measure: Measure): number[] {
  const byTime = groupRows(rows, ({ time }) => String(time))
  return steps.map(time => valueOf(measure, sumOf(byTime.get(String(time)) ?? [])))
}

/** Each series on top of those after it, so that drawing them in order leaves every one visible. */
export function stack(series: readonly Series[]): number[][] {
  const below: number[] = []
  return series
    .toReversed()
    .map(({ values }) => values.map((value, i) => (below[i] = (below[i] ?? 0) + value)))
    .toReversed()
}
