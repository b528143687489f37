/** Usage as the rest of the gateway sees it. Requests are units of cost (spec, "Limits"); times are Unix seconds. */

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

/** A row with its refusals by reason. */
export type DetailedRow = UsageRow &
  UsageDetail & { readonly refusalsByReason: Readonly<Record<string, number>> }

/** Which rows of the ledger to read. `from` is inclusive, `to` exclusive. */
export interface UsageQuery {
  readonly accountId?: string
  readonly endpointId?: string
  readonly from: number
  readonly to: number
  readonly by: 'hour' | 'day'
}

/** Reads what endpoints have used since their creation; sees every call admitted before. */
export interface TotalsReader {
  /** Of these endpoints of an account, by id; one that was never called is absent. */
  totals(accountId: string, endpointIds: readonly string[]): ReadonlyMap<string, Totals>
}

/** Reads of usage from another process; each sees every charge that is on disk. */
export interface UsageReader {
  /** Of all endpoints that the account ever had, by id. */
  totals(accountId: string): ReadonlyMap<string, Totals>
  /** Read one question at a time, and to its end or not. */
  rows(query: UsageQuery): Iterable<UsageRow & UsageDetail>
  detailedRows(query: UsageQuery): Iterable<DetailedRow>
}
