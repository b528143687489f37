/** Who may run next: one query an account at a time, a few in all, accounts in turn. */

/** Queries that run at a time, whoever asks. */
const RUNNING = 2
/** Queries of one account that wait, and of all together. */
const WAITING = { account: 16, all: 256 }
/** Milliseconds that a query waits at most. */
const PATIENCE = 20_000

interface Waiting<A> {
  readonly start: () => Promise<A>
  readonly settle: (answer: A | 'busy' | Promise<A>) => void
  readonly timer: NodeJS.Timeout
}

/** Runs what is asked for, or says `busy`: at once when too much waits already, later when it has waited too long. */
export class FairQueue<A> {
  readonly #running = new Set<string>()
  /** By account, in the order of their turns. */
  readonly #waiting = new Map<string, Waiting<A>[]>()
  readonly #mayStart: () => boolean
  readonly #patience: number
  #count = 0

  /** `mayStart` is asked before each; after it has said no, `next` has to be called. */
  constructor(mayStart: () => boolean = () => true, patience = PATIENCE) {
    this.#mayStart = mayStart
    this.#patience = patience
  }

  /** How many are running. */
  get running(): number {
    return this.#running.size
  }

  /** Runs `start` when it is the account's turn. */
  run(account: string, start: () => Promise<A>): Promise<A | 'busy'> {
    const own = this.#waiting.get(account) ?? []
    if (own.length >= WAITING.account || this.#count >= WAITING.all) return Promise.resolve('busy')
    return new Promise(settle => {
      const timer = setTimeout(() => {
        this.#take(account, waiting)
        settle('busy')
      }, this.#patience).unref()
      const waiting = { start, settle, timer }
      own.push(waiting)
      this.#waiting.set(account, own)
      this.#count += 1
      this.next()
    })
  }

  /** Starts as many as may run. */
  next(): void {
    for (const [account, [first]] of this.#waiting) {
      if (this.#running.size >= RUNNING || !this.#mayStart()) return
      if (first === undefined || this.#running.has(account)) continue
      this.#take(account, first)
      this.#running.add(account)
      first.settle(
        first.start().finally(() => {
          this.#running.delete(account)
          this.next()
        }),
      )
    }
  }

  #take(account: string, taken: Waiting<A>): void {
    clearTimeout(taken.timer)
    const left = (this.#waiting.get(account) ?? []).filter(waiting => waiting !== taken)
    this.#waiting.delete(account)
    if (left.length > 0) this.#waiting.set(account, left)
    this.#count -= 1
  }
}
