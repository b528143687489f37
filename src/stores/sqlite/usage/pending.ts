/**
 * Adds what the ledger has not taken over yet to what its tables say. The journal says the same, and is what other processes read, but one that holds
 * the counters needs not read thousands of charges for the few of one account.
 */
import type { UsageCounter } from './counters.ts'
import type { Totals } from '../../../ports/ledger.ts'

/** Totals by endpoint, with the charges of `pending`, the counters of one account. */
export function withPendingTotals(
  totals: ReadonlyMap<string, Totals>,
  pending: readonly UsageCounter[],
): ReadonlyMap<string, Totals> {
  const sums = new Map(totals)
  for (const { endpoint, calls, requests } of pending.filter(isCharged)) {
    const sum = sums.get(endpoint)
    sums.set(endpoint, {
      calls: (sum?.calls ?? 0) + calls,
      requests: (sum?.requests ?? 0) + requests,
    })
  }
  return sums
}

/** Whether the journal speaks of it, if only of charges that were given back; it does not name what it held at the start anew. */
function isCharged({ named, calls, requests }: UsageCounter): boolean {
  return named || calls !== 0 || requests !== 0
}
