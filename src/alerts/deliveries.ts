/** Delivers what is kept for webhooks, signed as the Standard Webhooks specification says, until it is taken. */
import { Webhook } from 'standardwebhooks'
import { OPERATORS } from '../ports/alerts.ts'
import type { Alerts, Delivery, Webhook as Target } from '../ports/alerts.ts'
import type { Message } from './post.ts'

/** Seconds between attempts; behind the last one a message is given up. */
const RETRIES = [5, 30, 300, 1_800, 7_200, 18_000, 36_000, 50_400, 72_000, 86_400]
/** How often is looked for what is due, in milliseconds. */
const LOOK = 1_000
/** Messages that are under way at a time, each to another webhook. */
const AT_ONCE = 8
/** Part of a wait that is left to chance: webhooks that were down together are not tried together. */
const JITTER = 0.1

/** What it is made of. */
export interface DeliveriesParts {
  readonly alerts: Pick<Alerts, 'due' | 'delivered' | 'failed' | 'webhook'>
  /** The operator's webhook. */
  readonly operators: () => Target | null
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

/** Looks for what is due, and posts it. */
export class Deliveries {
  readonly #parts: DeliveriesParts
  readonly #timer: NodeJS.Timeout
  readonly #closing = new AbortController()
  /** By target. */
  readonly #underWay = new Map<string, Promise<void>>()

  constructor(parts: DeliveriesParts) {
    this.#parts = parts
    this.#timer = setInterval(() => {
      void this.look()
    }, LOOK)
    this.#timer.unref()
  }

  /** Begins with what is due now. */
  async look(): Promise<void> {
    const { alerts, now, broken } = this.#parts
    try {
      for (const delivery of await alerts.due(Math.floor(now() / 1000), AT_ONCE + this.#underWay.size)) {
        if (this.#underWay.size >= AT_ONCE) return
        if (this.#underWay.has(delivery.target)) continue
        const over = this.#deliver(delivery).catch(broken)
        this.#underWay.set(
          delivery.target,
          over.then(() => {
            this.#underWay.delete(delivery.target)
          }),
        )
      }
    } catch (error) {
      broken(error)
    }
  }

  /** Ends what is under way: a webhook that does not answer holds up no stop. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    this.#closing.abort()
    await Promise.all(this.#underWay.values())
  }

  async #deliver(delivery: Delivery): Promise<void> {
    const { alerts, operators, now, failed } = this.#parts
    const { id, target, attempts } = delivery
    const isOperators = target === OPERATORS
    const webhook = isOperators ? operators() : await alerts.webhook(target)
    // Nobody wants it any more.
    if (webhook === null) return alerts.delivered(id)
    const why = await this.#attempt(delivery, webhook, isOperators)
    // It is tried again after the next start.
    if (why !== null && this.#closing.signal.aborted) return
    if (why === null) return alerts.delivered(id)
    const wait = RETRIES[attempts]
    if (wait === undefined) {
      failed(delivery, why, null)
      return alerts.delivered(id)
    }
    const nextAt = Math.ceil(now() / 1000 + wait * (1 + JITTER * Math.random()))
    failed(delivery, why, nextAt)
    return alerts.failed(id, nextAt)
  }

  /** Why it was not taken; null when it was. */
  async #attempt(
    { id, body }: Delivery,
    { url, secret }: Target,
    isOperators: boolean,
  ): Promise<string | null> {
    const { post, version, now, allowPrivate } = this.#parts
    const at = new Date(Math.floor(now() / 1000) * 1000)
    try {
      const headers = {
        ...{ 'content-type': 'application/json', 'user-agent': `Tollgate/${version}` },
        ...{ 'webhook-id': id, 'webhook-timestamp': String(at.getTime() / 1000) },
        'webhook-signature': new Webhook(secret).sign(id, at, body),
      }
      const status = await post({
        ...{ url, headers, body, isTrusted: isOperators || allowPrivate() },
        signal: this.#closing.signal,
      })
      return status >= 200 && status < 300 ? null : `it answered ${status}`
    } catch (error) {
      return (error as Error).message
    }
  }
}
