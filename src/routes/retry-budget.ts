/**
 * How many of a network's calls may be tried again: a storm of retries would bury what is left of it. Retries beyond a
 * caller's own share come from a pool. An account draws at most half of it, and its first retry in any case; all
 * addresses of the public route together draw as one account does, as anybody can use many.
 */
import { PUBLIC } from '../limits/fair-share.ts'

/** Retries allowed: a share of recent calls, and some in any case. */
const SHARE = 0.2
const PER_SECOND = 10
/** Seconds that count as recent. */
const WINDOW = 10

interface Counts {
  calls: number
  retries: number
  /** Those of the retries that came from the pool. */
  pooled: number
}

interface Second {
  readonly at: number
  /** When its first call came, in milliseconds. */
  readonly since: number
  pooled: number
  readonly callers: Map<string, Counts>
}

/** The last seconds of one network. Times are in milliseconds of a monotonic clock. */
export class RetryBudget {
  readonly #seconds: Second[] = []

  /** Counts a client's call. */
  call(caller: string, now: number): void {
    countsOf(this.#second(now), caller).calls += 1
  }

  /** Takes one retry of a caller's call; false when the budget is spent. */
  take(caller: string, now: number): boolean {
    const second = this.#second(now)
    const isPublic = caller.startsWith(PUBLIC)
    const own = this.#sum(caller)
    const drawer = isPublic ? this.#sum(PUBLIC) : own
    if (own.retries - own.pooled >= Math.floor(own.calls * SHARE)) {
      // In a burst after quiet only the seconds that were really there may be spent.
      const pool = PER_SECOND * Math.max(1, (now - (this.#seconds[0]?.since ?? now)) / 1000)
      const pooled = this.#seconds.reduce((sum, each) => sum + each.pooled, 0)
      const isFirst = !isPublic && own.retries === 0
      if (!isFirst && (pooled >= pool || drawer.pooled >= pool / 2 || (isPublic && own.pooled >= pool / 4)))
        return false
      second.pooled += 1
      countsOf(second, caller).pooled += 1
      if (isPublic) countsOf(second, PUBLIC).pooled += 1
    }
    countsOf(second, caller).retries += 1
    return true
  }

  /** What a caller did in all of these seconds. */
  #sum(caller: string): Counts {
    const sum = { calls: 0, retries: 0, pooled: 0 }
    for (const { callers } of this.#seconds) {
      const counts = callers.get(caller)
      if (counts === undefined) continue
      sum.calls += counts.calls
      sum.retries += counts.retries
      sum.pooled += counts.pooled
    }
    return sum
  }

  #second(now: number): Second {
    const at = Math.floor(now / 1000)
    while (this.#seconds[0] !== undefined && this.#seconds[0].at <= at - WINDOW) this.#seconds.shift()
    const last = this.#seconds.at(-1)
    if (last?.at === at) return last
    const fresh = { at, since: now, pooled: 0, callers: new Map<string, Counts>() }
    this.#seconds.push(fresh)
    return fresh
  }
}

function countsOf({ callers }: Second, caller: string): Counts {
  let counts = callers.get(caller)
  if (counts === undefined) callers.set(caller, (counts = { calls: 0, retries: 0, pooled: 0 }))
  return counts
}
