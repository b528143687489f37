/** A shared subscription among all others: who holds it while nobody listens. */
import type { SharedSubscription } from './shared.ts'
import type { Kept, SubscriptionSlots } from './slots.ts'

/** Milliseconds that an upstream subscription is kept after its last listener left. */
const GRACE = 10_000

/** Goes from listened to, to kept, and back or to its end. */
export class Entry implements Kept {
  readonly network: string
  readonly #slots: SubscriptionSlots
  #shared: SharedSubscription | null = null
  /** Who was the last to leave; null while somebody listens. */
  #holder: string | null = null
  #grace: NodeJS.Timeout | null = null
  #ended: Promise<void> | null = null

  constructor(network: string, slots: SubscriptionSlots) {
    this.network = network
    this.#slots = slots
  }

  /** What it is about; set right after it is made. */
  get shared(): SharedSubscription {
    if (this.#shared === null) throw new Error('a subscription was used before it was made')
    return this.#shared
  }

  set shared(shared: SharedSubscription) {
    this.#shared = shared
  }

  /** Keeps it for a while in the slot of its last listener. */
  keep(holder: string): void {
    this.#holder = holder
    this.#slots.keep(holder, this)
    this.#grace = setTimeout(() => {
      void this.end()
    }, GRACE)
  }

  /** Somebody listens again: gives back the slot in which it was kept. */
  revive(): void {
    if (this.#holder !== null) this.#giveBack(this.#holder)
    this.#settle()
  }

  /** The holder in whose slot it is kept; null while somebody listens. */
  get keptBy(): string | null {
    return this.#holder
  }

  /** Somebody listens again who was the last to leave: the slot is theirs still. */
  reclaim(): void {
    if (this.#holder !== null) this.#slots.unkeep(this.#holder, this)
    this.#settle()
  }

  end(): Promise<void> {
    this.#ended ??= this.#end()
    return this.#ended
  }

  /** It ended by itself. One that is being ended gives its slot back when the node has answered. */
  over(): void {
    if (this.#ended === null && this.#holder !== null) this.#giveBack(this.#holder)
    this.#clearGrace()
  }

  async #end(): Promise<void> {
    this.#clearGrace()
    await this.shared.stop()
    if (this.#holder !== null) this.#giveBack(this.#holder)
  }

  #giveBack(holder: string): void {
    // Where somebody was given the slot meanwhile, it is not free.
    if (this.#slots.unkeep(holder, this)) this.#slots.free(holder)
  }

  #settle(): void {
    this.#holder = null
    this.#clearGrace()
  }

  #clearGrace(): void {
    if (this.#grace !== null) clearTimeout(this.#grace)
    this.#grace = null
  }
}
