/** Delivers what is kept for webhooks, until it is taken or given up. */
import { setTimeout as pause } from 'node:timers/promises'
import { OPERATORS } from '../ports/alerts.ts'
import type { Alerts, Delivery, Lane, Outcome, Webhook } from '../ports/alerts.ts'
import type { Message } from './post.ts'
import { sign } from './sign.ts'
import { Slots } from './slots.ts'
import type { InFlight } from './slots.ts'

/** Seconds between attempts; behind the last one a message is given up. */
const RETRIES = [5, 30, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** How often it is checked what is due again, in milliseconds. */
const LOOK = 1_000
/** Milliseconds for which outcomes are gathered, to be written in one transaction. */
const GATHER = 20
/** Part of a wait that is left to chance: webhooks that were down together are not tried together. */
const JITTER = 0.1
const LANES: readonly Lane[] = ['operator', 'accounts', 'suspects']

/** What it is made of. */
export interface DeliveriesParts {
  readonly alerts: Pick<Alerts, 'receivers' | 'due' | 'settle' | 'webhook'>
  /** The operator's webhook. */
  readonly operators: () => Webhook | null
  /** Whether accounts' webhooks may lead anywhere. */
  readonly allowPrivate: () => boolean
  readonly post: (message: Message) => Promise<number>
  readonly version: string
  /** Milliseconds since the Unix epoch. */
  readonly now: () => number
  /** Hears of an attempt that failed; `nextAt` is null when it was the last. */
  readonly failed: (delivery: Delivery, why: string, nextAt: number | null) => void
  /** Hears that nothing can be read or written now. */
  readonly broken: (error: unknown) => void
}

/** An attempt that is over and not yet written down: its message keeps its slot, and is not sent again meanwhile. */
interface Over {
  readonly one: InFlight
  readonly outcome: Outcome
}

/** Finds what is due, and posts it. */
export class Deliveries {
  readonly #parts: DeliveriesParts
  readonly #timer: NodeJS.Timeout
  readonly #slots = new Slots()
  readonly #attempts = new Set<Promise<void>>()
  #over: Over[] = []
  #settling: Promise<void> | null = null
  #looking: Promise<void> | null = null
  #isWanted = false
  #isClosed = false

  constructor(parts: DeliveriesParts) {
    this.#parts = parts
    this.#timer = setInterval(() => {
      this.look()
      // What could not be written is tried again.
      if (this.#over.length > 0) this.#settling ??= this.#settle()
    }, LOOK)
    this.#timer.unref()
  }

  /** Begins with what is due now. */
  look(): void {
    if (this.#isClosed) return
    this.#isWanted = true
    this.#looking ??= this.#lookThrough()
      .catch(this.#parts.broken)
      .finally(() => {
        this.#looking = null
        // Somebody has asked since the last lane was read.
        if (this.#isWanted) this.look()
      })
  }

  /** Ends what is in flight: a webhook that does not answer holds up no stop. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#isClosed = true
    this.#slots.abort()
    await this.#looking
    await Promise.all(this.#attempts)
    while (this.#settling !== null) await this.#settling
    if (this.#over.length > 0) await this.#settle()
  }

  async #lookThrough(): Promise<void> {
    while (this.#isWanted) {
      this.#isWanted = false
      for (const lane of LANES) await this.#begin(lane)
    }
  }

  async #begin(lane: Lane): Promise<void> {
    const { alerts, now } = this.#parts
    let crowded = 0
    for (const target of await alerts.receivers(lane, now(), this.#slots.most)) {
      const { room, isCrowded } = this.#slots.roomFor(target, lane)
      if (isCrowded) crowded += 1
      if (room <= 0) continue
      const most = room + this.#slots.countTo(target)
      const due = await alerts.due(target, Math.floor(now() / 1000), most)
      if (this.#isClosed) return
      for (const delivery of due.filter(({ id }) => !this.#slots.has(id)).slice(0, room))
        this.#send(this.#slots.begin(delivery, lane))
    }
    if (crowded > 0) this.#slots.makeRoom(crowded)
  }

  #send(one: InFlight): void {
    const attempt = this.#attempt(one).then(why => {
      this.#attempts.delete(attempt)
      // What a stop has ended is tried again after the next start.
      if (why !== null && this.#isClosed) return
      this.#over.push({ one, outcome: this.#outcome(one, why) })
      this.#settling ??= this.#settle()
    })
    this.#attempts.add(attempt)
  }

  /** Writes down what is over, and goes on. */
  async #settle(): Promise<void> {
    const { alerts, now, broken } = this.#parts
    if (!this.#isClosed) await pause(GATHER)
    const over = this.#over.splice(0)
    try {
      await alerts.settle(
        over.map(({ outcome }) => outcome),
        now(),
      )
    } catch (error) {
      this.#over.unshift(...over)
      broken(error)
      return
    } finally {
      this.#settling = null
    }
    for (const { one, outcome } of over) this.#slots.end(one, outcome.isTaken && !outcome.isSlow)
    if (this.#over.length > 0) this.#settling ??= this.#settle()
    this.look()
  }

  #outcome(one: InFlight, why: string | null): Outcome {
    const { now, failed } = this.#parts
    const { delivery } = one
    const { id, target, attempts } = delivery
    const of = { id, target, isTaken: why === null, isSlow: this.#slots.isLate(one) }
    if (why === null) return { ...of, nextAt: null }
    const wait = RETRIES[attempts]
    const nextAt = wait === undefined ? null : Math.ceil(now() / 1000 + wait * (1 + JITTER * Math.random()))
    failed(delivery, why, nextAt)
    return { ...of, nextAt }
  }

  /** Why it was not taken; null when it was. */
  async #attempt({ delivery, ending: { signal } }: InFlight): Promise<string | null> {
    const { alerts, operators, allowPrivate, post, version, now } = this.#parts
    const { id, target, body } = delivery
    const isOperators = target === OPERATORS
    try {
      const webhook = isOperators ? operators() : await alerts.webhook(target)
      // Nobody wants it any more.
      if (webhook === null) return null
      const headers = sign({ id, body, secret: webhook.secret, version }, now())
      const isTrusted = isOperators || allowPrivate()
      const status = await post({ url: webhook.url, headers, body, isTrusted, signal })
      return status >= 200 && status < 300 ? null : `it answered ${status}`
    } catch (error) {
      return signal.aborted ? 'no answer yet, and others waited for its slot' : (error as Error).message
    }
  }
}
