/** Probes a Solana node: how far it has come at each commitment, whether it is well, and how far back it goes. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { decodeJson } from '../../jsonrpc/raw.ts'
import type { Reply } from '../../jsonrpc/reply.ts'
import type { LiveRoute } from '../live-route.ts'
import { COMMITMENTS } from '../../families/solana/scale.ts'
import type { Commitment } from '../../families/solana/scale.ts'
import type { Verdict } from '../transport/verdict.ts'

/** Milliseconds between two questions for the oldest slot: nodes drop a few slots a second, and say so when asked for one. */
const FIRST_SLOT_EVERY = 60_000
/** What a node is asked for it: with long-term storage first, then its own ledger. */
const FIRST_SLOT_QUESTIONS = ['getFirstAvailableBlock', 'minimumLedgerSlot'] as const

/** What Agave says of a node that is behind. */
interface Unhealthy {
  readonly data?: { readonly numSlotsBehind?: unknown } | null
}

/** What a node said of its slots. */
export interface SlotsSeen {
  /** The verdict on its newest slot: whether it is there at all. */
  readonly verdict: Verdict
  readonly askedAt: number
  readonly slots: readonly (readonly [Commitment, number])[]
}

/** Asks a route one question after another, so that a probe needs one connection. Times are of the monotonic clock. */
export class SolanaProbe {
  readonly #patience: number
  readonly #now: () => number
  readonly #firstSlotAt = new WeakMap<LiveRoute, number>()

  /** `patience`: milliseconds that an answer may take. */
  constructor(patience: number, now: () => number) {
    this.#patience = patience
    this.#now = now
  }

  /** The slots of a route. A node that does not answer is not asked more. */
  async slots(live: LiveRoute): Promise<SlotsSeen> {
    const askedAt = this.#now()
    const slots: (readonly [Commitment, number])[] = []
    let first: Verdict | null = null
    for (const commitment of COMMITMENTS) {
      const verdict = await live.probe('getSlot', `[{"commitment":"${commitment}"}]`, this.#patience)
      const slot = verdict.kind === 'result' ? readQuantity(verdict.result) : null
      if (slot !== null) slots.push([commitment, slot])
      first ??= verdict
      if (verdict.kind === 'setback') break
    }
    return { verdict: first!, askedAt, slots }
  }

  /** Whether a route is well: "ok", or the error NodeUnhealthy. Any other answer says nothing. */
  async health(live: LiveRoute): Promise<void> {
    const verdict = await live.probe('getHealth', '[]', this.#patience)
    if (verdict.kind === 'result') setHealth(live, null)
    else if (verdict.kind === 'setback' && verdict.why === 'unavailable') setHealth(live, verdict.said)
  }

  /** The oldest slot of a route, once in a while; `keepsAll` where it is an archive. */
  async firstSlot(live: LiveRoute, keepsAll: boolean): Promise<void> {
    if (keepsAll) live.firstSlot = null
    if (keepsAll || this.#now() - (this.#firstSlotAt.get(live) ?? -Infinity) < FIRST_SLOT_EVERY) return
    this.#firstSlotAt.set(live, this.#now())
    for (const question of FIRST_SLOT_QUESTIONS) {
      const verdict = await live.probe(question, '[]', this.#patience)
      if (verdict.kind !== 'result') continue
      live.firstSlot = readQuantity(verdict.result)
      return
    }
  }
}

function setHealth(live: LiveRoute, unhealthy: Reply | null): void {
  live.syncing = unhealthy !== null
  const data = unhealthy?.kind === 'error' ? (decodeJson(unhealthy.error) as Unhealthy).data : null
  live.slotsBehind = typeof data?.numSlotsBehind === 'number' ? data.numSlotsBehind : null
}
