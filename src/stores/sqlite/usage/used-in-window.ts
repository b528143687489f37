/** What an account has used of a quota window, or an endpoint in a day: asked for once when it comes into memory, and when its window or its plan changes. */
import type { DatabaseSync } from '../driver.ts'
import type { UsageCounter } from './counters.ts'
import { ADD_TO_WINDOW } from './fold.ts'
import type { Window } from '../../../limits/window.ts'

const RECORDED = 'SELECT requests FROM windows WHERE account = ? AND start = ?'

/** Requests in the hours that lie wholly within a window. By endpoints, as the rows are sorted on disk: by the index on accounts it takes ten times as long. */
const WITHIN = `SELECT coalesce(sum(usage.requests), 0) AS requests
  FROM totals CROSS JOIN usage ON usage.endpoint = totals.endpoint
  WHERE totals.account = ?1 AND usage.account = ?1 AND usage.hour BETWEEN ?2 AND ?3`

/**
 * Reads the requests that an account has used in a window. `pending` are its counters that the ledger has not taken over: they hold what the
 * journal does, which would have to be read from its first record to its last. `switched` when the account had windows of another kind before.
 */
export type ReadUsed = (
  account: string,
  window: Window,
  switched: boolean,
  pending: readonly UsageCounter[],
) => number

/** Statements that read it, and write what is missing once `mayWrite` has not thrown. */
export function makeReadUsed(database: DatabaseSync, mayWrite: () => void): ReadUsed {
  const recordedIn = database.prepare(RECORDED)
  const within = database.prepare(WITHIN)
  const topUp = database.prepare(ADD_TO_WINDOW)
  return (account, { start, end }, switched, pending) => {
    const row = recordedIn.get(account, start) as { requests: number } | undefined
    const charged = pending.filter(counter => counter.window === start)
    const used = (row?.requests ?? 0) + sumOf(charged)
    if (!switched && (row !== undefined || charged.some(({ calls }) => calls > 0))) return used
    // Charged to windows of another kind within this one's time.
    const last = end - 3600
    const folded = (within.get(account, start, last) as { requests: number }).requests
    const missing = folded + sumOf(pending.filter(({ hour }) => hour >= start && hour <= last)) - used
    if (missing <= 0) return used
    mayWrite()
    topUp.run(account, start, missing)
    return used + missing
  }
}

const OF_ENDPOINT =
  'SELECT coalesce(sum(requests), 0) AS requests FROM usage WHERE endpoint = ? AND hour BETWEEN ? AND ?'

/** Reads the requests that one endpoint has used in the hours of a window; `pending` as above. */
export type ReadUsedBy = (endpoint: string, window: Window, pending: readonly UsageCounter[]) => number

/** The statement that reads it. */
export function makeReadUsedBy(database: DatabaseSync): ReadUsedBy {
  const folded = database.prepare(OF_ENDPOINT)
  return (endpoint, { start, end }, pending) => {
    const { requests } = folded.get(endpoint, start, end - 3600) as { requests: number }
    const isIts = (counter: UsageCounter): boolean =>
      counter.endpoint === endpoint && counter.hour >= start && counter.hour < end
    return requests + sumOf(pending.filter(isIts))
  }
}

function sumOf(counters: readonly UsageCounter[]): number {
  return counters.reduce((sum, { requests }) => sum + requests, 0)
}
