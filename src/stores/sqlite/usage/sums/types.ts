/** Questions about usage that are answered by sums, and what they are answered with. */
import type { Raw } from '../../../../jsonrpc/raw.ts'

/** What rows can be grouped by, in the order in which rows are sorted. */
export const COLUMNS = ['time', 'endpoint', 'network', 'method', 'reason'] as const

/** One of them. */
export type Column = (typeof COLUMNS)[number]

/** Rows of one answer at most. */
export const MAX_ROWS = 10_000

/** The group of a row: its values of the columns asked for, in the order of `COLUMNS`. */
export type GroupValues = readonly (string | number)[]

/** One question of one account. `from` is inclusive, `to` exclusive; both are Unix seconds. */
export interface SumsQuery {
  readonly accountId: string
  /** Only this endpoint; null for all. */
  readonly endpointId: string | null
  readonly from: number
  readonly to: number
  /** The step of `time`. */
  readonly by: 'hour' | 'day'
  /** In the order of `COLUMNS`, each at most once. */
  readonly groupBy: readonly Column[]
  /** Whether rows also have bytesOut, upstreamMs and refusalsByReason. */
  readonly detail: boolean
  /** Rows of the largest groups only, `time` apart, and one for the rest; null for all. */
  readonly top: number | null
  /** Where the last answer ended; null for the first. */
  readonly after: GroupValues | null
}

/** Rows as JSON text, and the last of them when more follow. */
export interface SumsPage {
  readonly rows: Raw
  readonly last: GroupValues | null
}

/**
 * Why there is no page: `busy` when too much waits already, `too_long` when it took longer than a query may, `too_many_groups` when more groups
 * than fit in memory were found.
 */
export type SumsFailure = 'busy' | 'too_long' | 'too_many_groups'

/** Reads sums of usage; an answer has every call that was answered before it was asked for. */
export interface Sums {
  sum(query: SumsQuery): Promise<SumsPage | SumsFailure>
}

/** Seconds of a step. */
export const STEP = { hour: 3600, day: 86_400 } as const

/** Whether there was an answer. */
export function isPage(answer: SumsPage | SumsFailure): answer is SumsPage {
  return typeof answer !== 'string'
}
