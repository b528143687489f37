/** How many messages may be in flight at a time, and to whom: a webhook that hangs or fails takes no turns from those that answer. */
import type { Delivery, Lane } from '../ports/alerts.ts'

/** To one webhook whose last answer was in time; any other gets one at a time. */
const TO_ONE: Readonly<Record<Lane, number>> = { operator: 8, accounts: 4, suspects: 1 }
/** To the webhooks of accounts, and to those of them that answered badly the last time. */
const AT_ONCE = 32
const TO_SUSPECTS = 8
/** Milliseconds within which a webhook answers that nobody waits for. */
const PROMPT = 2_000

/** A message in flight. */
export interface InFlight {
  readonly delivery: Delivery
  readonly lane: Lane
  /** By the monotonic clock. */
  readonly begunAt: number
  /** Ends it early. */
  readonly ending: AbortController
}

/** The messages that are in flight. */
export class Slots {
  readonly #all = new Map<string, InFlight>()
  /** The webhooks whose last answer was in time. */
  readonly #prompt = new Set<string>()

  /** How many webhooks to look at, so that those that have a slot hide none that wants one. */
  get most(): number {
    return AT_ONCE + this.#all.size
  }

  has(id: string): boolean {
    return this.#all.has(id)
  }

  /** How many messages are in flight to a webhook. */
  countTo(target: string): number {
    return this.#to(target).length
  }

  /** How many more may be sent to it now; `isCrowded` where the others of accounts are all that keeps it from one. */
  roomFor(target: string, lane: Lane): { readonly room: number; readonly isCrowded: boolean } {
    const own = this.#to(target)
    const most = this.#prompt.has(target) ? TO_ONE[lane] : 1
    const wanted = own.some(isLate) ? 0 : most - own.length
    if (lane === 'operator') return { room: wanted, isCrowded: false }
    const others = [...this.#all.values()].filter(each => each.lane !== 'operator')
    const free = AT_ONCE - others.length
    if (lane === 'accounts') return { room: Math.min(wanted, free), isCrowded: wanted > 0 && free <= 0 }
    const suspects = others.filter(each => each.lane === 'suspects' || isLate(each))
    return { room: Math.min(wanted, free, TO_SUSPECTS - suspects.length), isCrowded: false }
  }

  begin(delivery: Delivery, lane: Lane): InFlight {
    const begun = { delivery, lane, begunAt: performance.now(), ending: new AbortController() }
    this.#all.set(delivery.id, begun)
    return begun
  }

  /** Whether it took so long that others would have to wait for it. */
  isLate(one: InFlight): boolean {
    return isLate(one)
  }

  end({ delivery: { id, target } }: InFlight, isPrompt: boolean): void {
    this.#all.delete(id)
    if (isPrompt) this.#prompt.add(target)
    else this.#prompt.delete(target)
  }

  /** Ends some of the messages for which the webhooks of accounts are late to answer. */
  makeRoom(slots: number): void {
    const late = [...this.#all.values()].filter(each => each.lane !== 'operator' && isLate(each))
    // The first began first.
    for (const { ending } of late.slice(0, slots)) ending.abort()
  }

  /** Ends all. */
  abort(): void {
    for (const { ending } of this.#all.values()) ending.abort()
  }

  #to(target: string): InFlight[] {
    return [...this.#all.values()].filter(each => each.delivery.target === target)
  }
}

function isLate({ begunAt }: InFlight): boolean {
  return performance.now() - begunAt > PROMPT
}
