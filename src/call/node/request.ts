/** A call on its way upstream. */
import type { Holder } from '../../limits/byte-budget.ts'
import type { ReadCall } from '../../families/family.ts'
import type { CallRecord, TracedCaller } from '../../ports/tracing.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Context } from '../context.ts'
import type { Gathering } from '../../routes/gather.ts'
import type { Need } from '../../routes/pick.ts'

/** Milliseconds per attempt and for all attempts of a call, by the rule's class (design, "Numbers"). */
export const TIMEOUTS = {
  fast: { attempt: 5_000, deadline: 15_000 },
  normal: { attempt: 10_000, deadline: 30_000 },
  heavy: { attempt: 60_000, deadline: 60_000 },
} as const

/** A call that has passed every check. */
export interface Request extends ReadCall {
  readonly network: Network
  /** Ids of the routes that may serve it. */
  readonly routes: readonly string[]
  readonly need: Need
  /** Those that have taken the transaction which is asked for: what they say of it counts. */
  readonly takers: readonly string[]
  /** Whose call it is (`holderOf`), and who is shown its answer (`readerOf`). */
  readonly caller: string
  readonly reader: string
  /** Of its client, or of all who wait for its answer. */
  readonly departure: Context['departure']
  /** Hears when it is sent, and to which route; null where nobody waits with it. */
  readonly flight: { sent(now: number, route: string): void; gathered(): void } | null
  /** When its time is up, by the monotonic clock; null where that is counted from now. */
  readonly until: number | null
  /** What is recorded of the call for its trace; null where nothing is. */
  readonly trace: CallRecord | null
  /** Whose trace it is. */
  readonly traced: TracedCaller
}

/** Whether a long reply may stream, or must be held whole; `maxBytes` null is no cap. */
export interface ReplyMode {
  readonly stream: boolean
  readonly maxBytes: number | null
  /** Where the bytes of a reply are counted while they are held. */
  readonly holder: Holder | null
  /** Hears whether the answer comes from the cache; null where the reply does not say. */
  readonly cached: ((status: 'hit' | 'miss') => void) | null
  /** Where calls of the same batch wait for each other, to go to a route in one body; null where each goes by itself. */
  readonly gather: Gathering | null
}

/**
 * Whether a call may go in one body with others. Its node may answer all of them when the slowest is ready, or none: so only what may be sent
 * again does, and nothing that is slow, tied to a route, or doubled when it is slow.
 */
export function mayGather({ row: { rule }, network }: Pick<Request, 'row' | 'network'>): boolean {
  const { retry, timeout, sticky, hedge } = rule
  return retry === 'safe' && timeout !== 'heavy' && sticky === null && !(network.hedge && hedge)
}
