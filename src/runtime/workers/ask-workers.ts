/** What the operator asks of all workers of a gateway, through its keeper. */
import { THIS_PROCESS } from './kept-counters.ts'
import type { KeptCounters } from './kept-counters.ts'
import type { Ledger } from '../../ports/ledger.ts'
import type { Keeper } from './keeper.ts'
import type { Purge } from '../admin/answer-purge.ts'
import type { Workers } from '../admin/admin-routes.ts'
import type { Remembered } from '../admin/call-records.ts'

/** Milliseconds that a worker gets to put its metrics or its state together. */
const TO_TELL = 2_000

/** The ledger, asked once it has all that the workers have charged. */
export function gatheredUsage(ledger: Ledger, gather: () => Promise<void>): Ledger {
  return {
    totals: async (...asked) => {
      await gather()
      return ledger.totals(...asked)
    },
    sum: async query => {
      await gather()
      return ledger.sum(query)
    },
  }
}

/** What the workers know of calls, all together. */
export function rememberedBy(keeper: Keeper): Remembered {
  return {
    find: async requestId =>
      (await keeper.ask('calls', { requestId }, TO_TELL)).flatMap(({ told: { lines } }) => lines),
    traced: async (trace, target) => {
      const all = await keeper.ask('trace', { trace, target }, TO_TELL)
      const lines = all.flatMap(({ told }) => told.lines).sort((a, b) => (a.time < b.time ? -1 : 1))
      return { lines, dropped: all.reduce((sum, { told }) => sum + told.dropped, 0) }
    },
  }
}

/** Purges in all of them. One that has not said that it did may go on with what it keeps. */
export function purgedBy(keeper: Keeper): Purge {
  return async which => {
    const there = keeper.slots.length
    const all = await keeper.ask('purge', which, TO_TELL)
    return all.length < there ? null : all.reduce((sum, { told }) => sum + told.purged, 0)
  }
}

/** Their state and metrics. `restarting` has the places that a restart has still to replace. */
export function workersOf(
  keeper: Keeper,
  counters: KeptCounters,
  count: number,
  restarting: Workers['restarting'],
): Workers {
  let up: readonly number[] = []
  return {
    count,
    restarting,
    up: () => up,
    states: async () => {
      await keeper.settled
      return keeper.ask('state', {}, TO_TELL)
    },
    metrics: async own => {
      await keeper.settled
      const others = await keeper.ask('metrics', {}, TO_TELL)
      up = others.map(({ slot }) => slot)
      const text = (await own()).toString()
      return counters.with([{ process: THIS_PROCESS, text }, ...others.map(({ told }) => told)])
    },
    explain: async body => {
      const [first] = await keeper.ask('explain', { body }, TO_TELL)
      return first === undefined ? null : first.told
    },
  }
}
