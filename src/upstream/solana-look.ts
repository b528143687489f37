/** Looks at a Solana node: how far it has come at each commitment, whether it is well, and how far back it goes. */
import { decodeJson } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { LiveRoute } from './live-route.ts'
import { COMMITMENTS } from './scale.ts'
import type { Verdict } from './verdict.ts'

/** Milliseconds between two questions for the oldest slot: nodes drop a few slots a second, and say so when asked for one. */
const FIRST_SLOT_EVERY = 60_000
/** What a node is asked for it: with long-term storage first, then its own ledger. */
const FIRST_SLOT_QUESTIONS = ['getFirstAvailableBlock', 'minimumLedgerSlot'] as const

/** Looks at routes, one question after another, so that a look needs one connection. */
export class SolanaLook {
  readonly #patience: number
  readonly #firstSlotAt = new WeakMap<LiveRoute, number>()

  /** `patience`: milliseconds that an answer may take. */
  constructor(patience: number) {
    this.#patience = patience
  }

  /** Looks at one route; the verdict on its newest slot tells whether it is there at all. */
  async at(live: LiveRoute, keepsAll: boolean): Promise<Verdict> {
    const verdict = await this.#readSlots(live)
    // A node that does not answer is not asked more.
    if (verdict.kind === 'setback') return verdict
    await this.#readHealth(live)
    if (keepsAll) live.firstSlot = null
    else if (Date.now() - (this.#firstSlotAt.get(live) ?? -Infinity) >= FIRST_SLOT_EVERY)
      await this.#readFirstSlot(live)
    return verdict
  }

  async #readSlots(live: LiveRoute): Promise<Verdict> {
    let first: Verdict | null = null
    for (const commitment of COMMITMENTS) {
      const askedAt = Date.now()
      const verdict = await live.probe('getSlot', `[{"commitment":"${commitment}"}]`, this.#patience)
      const slot = verdict.kind === 'result' ? numberOf(verdict.result) : null
      if (slot !== null) live.slots.tell(commitment, slot, askedAt, Date.now())
      first ??= verdict
      if (verdict.kind === 'setback') break
    }
    live.head = live.slots.at('processed')
    return first!
  }

  /** "ok", or the error NodeUnhealthy. Any other answer says nothing. */
  async #readHealth(live: LiveRoute): Promise<void> {
    const verdict = await live.probe('getHealth', '[]', this.#patience)
    if (verdict.kind === 'result') live.isBehind(null)
    else if (verdict.kind === 'setback' && verdict.why === 'syncing') live.isBehind(verdict.answer)
  }

  async #readFirstSlot(live: LiveRoute): Promise<void> {
    this.#firstSlotAt.set(live, Date.now())
    for (const question of FIRST_SLOT_QUESTIONS) {
      const verdict = await live.probe(question, '[]', this.#patience)
      if (verdict.kind !== 'result') continue
      live.firstSlot = numberOf(verdict.result)
      return
    }
  }
}

function numberOf(result: Raw): number | null {
  const number = decodeJson(result)
  return typeof number === 'number' && Number.isSafeInteger(number) ? number : null
}
