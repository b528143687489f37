/** The ledger: what every endpoint has used, by method and hour or day. Requests are request units, what calls cost (spec, "Limits"); times are Unix seconds. */
import type { ShownLatency } from './latency.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** Totals of one endpoint since its creation. */
export interface Totals {
  readonly calls: number
  readonly requests: number
}

/** What one row of the ledger says: one endpoint, method and hour (or day). */
export interface UsageRow {
  readonly time: number
  readonly accountId: string
  readonly endpointId: string
  readonly network: string
  readonly method: string
  readonly calls: number
  readonly requests: number
  readonly errors: number
  readonly refusals: number
}

/** What else the ledger keeps of such a row. */
export interface UsageDetail {
  readonly bytesOut: number
  /** Milliseconds that upstreams took. */
  readonly upstreamMs: number
}

/** A row with its refusals by reason, and how long upstreams took; null where that was not counted. */
export type DetailedRow = UsageRow &
  UsageDetail & {
    readonly refusalsByReason: Readonly<Record<string, number>>
    readonly latency: ShownLatency | null
  }

/** Which rows of the ledger to read. `from` is inclusive, `to` exclusive. */
export interface UsageQuery {
  readonly accountId?: string
  readonly endpointId?: string
  readonly from: number
  readonly to: number
  readonly by: 'hour' | 'day' | 'month'
}

/** What lines of a bill may be split by, besides accounts and their plans. */
export const SPLITS = ['endpoint', 'network', 'method', 'day'] as const

/** One of them. */
export type Split = (typeof SPLITS)[number]

/** Which lines of a bill to read: sums of the hours from `from` to before `to`. */
export interface LinesQuery {
  readonly accountId?: string
  readonly from: number
  readonly to: number
  /** Null for one line an account and plan. */
  readonly split: Split | null
}

/** One line of a bill: what an account used on one plan, of what it is split by. */
export interface UsageLine {
  readonly accountId: string
  readonly plan: string
  /** An endpoint's id, a network, a method, or the beginning of a day in Unix seconds; empty where nothing splits. */
  readonly of: string | number
  readonly calls: number
  readonly requests: number
  readonly errors: number
  readonly refusals: number
}

/** What an account has used of one quota window. */
export interface UsedWindow {
  readonly accountId: string
  /** When the window began, in Unix seconds. */
  readonly start: number
  readonly requests: number
}

/** Reads of usage from another process; each sees every charge that is on disk. */
export interface UsageReader {
  /** Of all endpoints that the account ever had, by id. */
  totals(accountId: string): ReadonlyMap<string, Totals>
  /** Read one question at a time, and to its end or not. */
  rows(query: UsageQuery): Iterable<UsageRow & UsageDetail>
  detailedRows(query: UsageQuery): Iterable<DetailedRow>
  /** By account, plan and split. */
  lines(query: LinesQuery): Iterable<UsageLine>
  /** The quota windows that began from `from` to before `to`, by account and start. */
  windows(query: Pick<LinesQuery, 'accountId' | 'from' | 'to'>): readonly UsedWindow[]
}

/** What rows can be grouped by, in the order in which rows are sorted. */
export const COLUMNS = ['time', 'account', 'endpoint', 'network', 'method', 'reason'] as const

/** One of them. */
export type Column = (typeof COLUMNS)[number]

/** Rows of one answer at most. */
export const MAX_ROWS = 10_000

/** The group of a row: its values of the columns asked for, in the order of `COLUMNS`. */
export type GroupValues = readonly (string | number)[]

/** One question. `from` is inclusive, `to` exclusive; both are Unix seconds. */
export interface SumsQuery {
  /** Null for all accounts, which only the operator may ask about. */
  readonly accountId: string | null
  /** Only this endpoint, this network, this method; null for all. */
  readonly endpointId: string | null
  readonly network: string | null
  readonly method: string | null
  readonly from: number
  readonly to: number
  /** The step of `time`. */
  readonly by: 'hour' | 'day'
  /** In the order of `COLUMNS`, each at most once. */
  readonly groupBy: readonly Column[]
  /** Whether rows also have bytesOut, upstreamMs, refusalsByReason and latency. */
  readonly detail: boolean
  /** Rows of the largest groups only, `time` apart, and one for the rest; null for all. */
  readonly top: number | null
  /** Where the last answer ended; null for the first. */
  readonly after: GroupValues | null
}

/** Rows as the text of a JSON array, and the last of them when more follow. */
export interface SumsPage {
  readonly rows: string
  readonly last: GroupValues | null
  /** Other gateways' usage is missing: the store that they share cannot be reached. */
  readonly isStale?: true
}

/** Totals by the ids of endpoints. */
export interface EndpointTotals extends ReadonlyMap<string, Totals> {
  /** As of a page. */
  readonly isStale?: true
}

/**
 * Why there is no page: `busy` when too much waits already, `too_long` when it took longer than a query may, `too_many_groups` when more groups
 * than fit in memory were found.
 */
export type SumsFailure = 'busy' | 'too_long' | 'too_many_groups'

/** Seconds of a step. */
export const STEP = { hour: 3600, day: 86_400 } as const

/** Whether there was an answer. */
export function isPage(answer: SumsPage | SumsFailure): answer is SumsPage {
  return typeof answer !== 'string'
}

/** Answers questions about usage. An answer has every call that was answered before it was asked for. */
export interface Ledger {
  /** What endpoints of an account (default: all it ever had) have used since their creation, by id; one that was never called is absent. */
  totals(accountId: string, endpointIds?: readonly string[]): MaybePromise<EndpointTotals>
  sum(query: SumsQuery): Promise<SumsPage | SumsFailure>
}
