/**
 * The columns of usage that say how long upstreams took. A gateway also runs on the tables of the version before, which lack them, until somebody runs
 * `tollgate migrate`.
 */
import { LATENCY_SUMS } from '../../sqlite/usage/columns.ts'
import type { Query } from '../postgres.ts'
import { versionOf } from '../schema.ts'

/** The version of the tables that has made them. */
const MADE_BY = 3

/** Whether tables of this version have them. */
export function hasLatency(version: number): boolean {
  return version >= MADE_BY
}

/** Whether this is one of them: null in place of zero (schema.ts). */
export function isLatency(column: string): boolean {
  return LATENCY_SUMS.includes(column)
}

/** Those of some columns that the tables have. */
export async function sumsIn(query: Query, sums: readonly string[]): Promise<readonly string[]> {
  return hasLatency(await versionOf(query)) ? sums : sums.filter(sum => !isLatency(sum))
}
