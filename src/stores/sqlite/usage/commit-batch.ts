/** The charges of a few calls, committed together. */
import type { UsageCounter } from './counters.ts'

/** What is given back of one counter. */
export interface GivenBack {
  readonly counter: UsageCounter
  readonly calls: number
  readonly requests: number
}

/** Charges that wait for one commit, and the calls that wait for it with them. */
export class CommitBatch {
  state: 'open' | 'committed' | 'failed' = 'open'
  /** Counters with charges of this batch, each once; how many is written in the counter. */
  readonly charged: UsageCounter[] = []
  /** How many charges came so far. */
  charges = 0
  /** Apart from the charges: a failed commit drops those and must not lose these. */
  readonly givenBack: GivenBack[] = []
  #tried: Promise<boolean> | null = null
  #tell: ((committed: boolean) => void) | null = null
  readonly #hurry: () => void

  /** `hurry` is called when something begins to wait for the commit. */
  constructor(hurry: () => void) {
    this.#hurry = hurry
  }

  get isEmpty(): boolean {
    return this.charged.length === 0 && this.givenBack.length === 0
  }

  charge(counter: UsageCounter, requests: number): void {
    this.charges += 1
    if (counter.waitingCalls === 0) this.charged.push(counter)
    counter.waitingCalls += 1
    counter.waitingRequests += requests
  }

  giveBack(counter: UsageCounter, calls: number, requests: number): void {
    this.givenBack.push({ counter, calls, requests })
  }

  /** Whether the charges are on disk; a promise while their commit was not tried, one for all that ask. */
  settled(): boolean | Promise<boolean> {
    if (this.state !== 'open') return this.state === 'committed'
    this.#tried ??= new Promise(resolve => {
      this.#tell = resolve
      this.#hurry()
    })
    return this.#tried
  }

  close(state: 'committed' | 'failed'): void {
    this.state = state
    this.#tell?.(state === 'committed')
  }

  /** The journal record of this batch. Its counters have their places. */
  record(): string {
    let entries = ''
    for (const counter of this.charged)
      entries += `,${entryOf(counter, counter.waitingCalls, counter.waitingRequests)}`
    for (const { counter, calls, requests } of this.givenBack)
      entries += `,${entryOf(counter, -calls, -requests)}`
    return `[${entries.slice(1)}]`
  }

  /** Its record was not written: the journal names none of its counters for sure. */
  forgetRecord(): void {
    for (const counter of this.charged) counter.named = false
    for (const { counter } of this.givenBack) counter.named = false
  }
}

/**
 * The entry of a counter in a journal record, which is JSON; calls and requests are negative when they are given back. A counter is named by its
 * place among those that are to be folded; its first entry says whose it is too. The view `charges` (schema.ts) reads the entries of places
 * that are not folded yet.
 */
export function entryOf(counter: UsageCounter, calls: number, requests: number): string {
  const { place } = counter
  if (counter.named) return `[${place},${calls},${requests}]`
  counter.named = true
  const { account, endpoint, network, method, hour, window, plan } = counter
  return JSON.stringify([place, calls, requests, account, endpoint, network, method, hour, window, plan])
}
