/** Counts the events that never reach a webhook, and logs them with their number: a few at once are one line. */
import { OPERATORS } from '../ports/alerts.ts'
import type { Tally } from '../observe/tally.ts'

/** Why: too much waits for the webhook already, or the last attempt has failed. */
export type DropReason = 'queue_full' | 'given_up'

/** Milliseconds for which drops are gathered, and between two lines. */
const GATHER = 1_000
const REMIND_EVERY = 60_000
/** Webhooks that a line names. */
const NAMED = 5

/** The drops of a gateway. */
export class DroppedEvents {
  readonly #tally: Tally
  readonly #log: (dropped: number, webhooks: readonly string[]) => void
  readonly #webhooks = new Set<string>()
  #unlogged = 0
  #loggedAt = -Infinity
  #timer: NodeJS.Timeout | undefined

  /** `tally` has the labels webhook and reason. */
  constructor(tally: Tally, log: (dropped: number, webhooks: readonly string[]) => void) {
    this.#tally = tally
    this.#log = log
    for (const webhook of ['operator', 'account'])
      for (const reason of ['queue_full', 'given_up']) tally.add([webhook, reason], 0)
  }

  /** One for each webhook that is named. */
  add(webhooks: readonly string[], reason: DropReason): void {
    for (const target of webhooks) {
      this.#tally.add([target === OPERATORS ? 'operator' : 'account', reason])
      // Each that is given up has a line already.
      if (reason === 'given_up') continue
      this.#unlogged += 1
      if (this.#webhooks.size < NAMED) this.#webhooks.add(target)
    }
    if (this.#unlogged === 0 || this.#timer !== undefined) return
    const wait = Math.max(GATHER, this.#loggedAt + REMIND_EVERY - performance.now())
    this.#timer = setTimeout(() => {
      this.close()
    }, wait).unref()
  }

  /** Logs what is not yet logged. */
  close(): void {
    clearTimeout(this.#timer)
    this.#timer = undefined
    if (this.#unlogged === 0) return
    this.#log(this.#unlogged, [...this.#webhooks])
    this.#loggedAt = performance.now()
    this.#unlogged = 0
    this.#webhooks.clear()
  }
}
