/** What is in flight at a route: calls that hang, and how long calls take. */
import { isAccount, RecentCallers } from './by-caller.ts'

/** Unanswered calls that have to be old. */
const MANY = 3
/** How old: this many times the 99th percentile, and never less than the least (milliseconds of a monotonic clock). */
const TIMES = 4
const LEAST = 1_000

/** One unanswered call. */
export interface Unanswered {
  readonly begun: number
  readonly caller: string
  older: Unanswered | null
  newer: Unanswered | null
}

/**
 * The calls that a route has not answered yet: several old ones say that it hangs before any of them times out. Those of one caller say so for that
 * caller, those of two for callers whom the route has not answered. Oldest first, and linked, because each is added at the one end and taken
 * out anywhere.
 */
export class HangDetector {
  #oldest: Unanswered | null = null
  #newest: Unanswered | null = null
  #count = 0

  /** Remembers a call until `end`. `now` in milliseconds. */
  begin(now: number, caller: string): Unanswered {
    const call: Unanswered = { begun: now, caller, older: this.#newest, newer: null }
    if (this.#newest === null) this.#oldest = call
    else this.#newest.newer = call
    this.#newest = call
    this.#count += 1
    return call
  }

  /** Forgets a call. */
  end(call: Unanswered): void {
    const { older, newer } = call
    if (older === null) this.#oldest = newer
    else older.newer = newer
    if (newer === null) this.#newest = older
    else newer.older = older
    // What is over must not keep the others alive.
    call.older = call.newer = null
    this.#count -= 1
  }

  /** Whether there are enough calls to say anything. */
  get isTelling(): boolean {
    return this.#count >= MANY
  }

  /**
   * Whether too many calls are older than the route usually takes: `caller`'s own, or unless `ownOnly` those of several
   * callers, which for an account have to be accounts.
   */
  isHanging(now: number, p99: number | null, caller?: string, ownOnly = false): boolean {
    if (!this.isTelling) return false
    const bound = now - Math.max(LEAST, TIMES * (p99 ?? LEAST))
    if (this.#oldest!.begun > bound) return false
    const isOfAccounts = caller !== undefined && isAccount(caller)
    let [old, own, several] = [0, 0, false]
    let first: string | null = null
    for (let call = this.#oldest; call !== null && call.begun <= bound; call = call.newer) {
      if (isOfAccounts && !isAccount(call.caller)) continue
      first ??= call.caller
      old += 1
      if (call.caller === caller) own += 1
      if (call.caller !== first) several = true
      if (own >= MANY || (several && !ownOnly && old >= MANY)) return true
    }
    return false
  }

  /** Whether the calls of some caller are too old. */
  isSuspect(now: number, p99: number | null): boolean {
    return this.#oldest !== null && this.isHanging(now, p99, this.#oldest.caller)
  }
}

/** How long answers take, in milliseconds. */
export interface Times {
  /** Moving average; 0 until the first answer. */
  readonly average: number
  /** Quantiles of the last answers; null until there are enough to say. */
  readonly p95: number | null
  readonly p99: number | null
}

/** Samples that the quantiles are taken from: at first, and at most. */
const FEWEST = 16
const KEPT = 128
/** Samples between two sortings: first the one number, from `KEPT` on the other. */
const REFRESH_EARLY = 16
const REFRESH = 64
/** Share of the newest sample in the moving average. */
const WEIGHT = 0.1
/** A sample counts there as at most so many times the average, and this much more: a few slow calls are not the usual pace. */
const MOST = 3
const MORE = 20

/** The last answers to one caller. */
class Samples implements Times {
  /** The `Latency`'s, when the last one came. */
  epoch = 0
  average = 0
  p95: number | null = null
  p99: number | null = null
  /** Grows with the number of answers: most callers make few calls. */
  #samples = new Float32Array(FEWEST)
  #next = 0

  add(ms: number): void {
    this.average +=
      this.average === 0 ? ms : (Math.min(ms, this.average * MOST + MORE) - this.average) * WEIGHT
    if (this.#next === this.#samples.length && this.#next < KEPT) this.#grow()
    this.#samples[this.#next % KEPT] = ms
    this.#next += 1
    if (this.#next % (this.#next < KEPT ? REFRESH_EARLY : REFRESH) !== 0) return
    const sorted = this.#samples.slice(0, this.#next).sort()
    this.p95 = sorted[Math.floor(sorted.length * 0.95)] ?? null
    this.p99 = sorted[Math.floor(sorted.length * 0.99)] ?? null
  }

  #grow(): void {
    const samples = new Float32Array(this.#samples.length * 2)
    samples.set(this.#samples)
    this.#samples = samples
  }
}

/** Answers between two looks at what all callers have in common. */
const POOLED_EVERY = 64

const NOTHING: Times = { average: 0, p95: null, p99: null }

/**
 * How long a route takes to answer: by caller, so that the slow or quick calls of one do not decide which route is asked for another, or when
 * that one's calls are hedged. For callers with few answers it is the median of the callers, each of which counts once.
 */
export class Latency implements Times {
  readonly #callers = new RecentCallers(() => new Samples())
  #pooled: Times = NOTHING
  #added = 0
  #pooledAt = 0
  #epoch = 0

  add(ms: number, caller = ''): void {
    const own = this.#callers.make(caller)
    own.add(ms)
    own.epoch = this.#epoch
    this.#added += 1
  }

  /** Whether the route has answered this caller, and `forget` was not called since. */
  knows(caller: string): boolean {
    return this.#callers.of(caller)?.epoch === this.#epoch
  }

  /** Forgets whom the route has answered, not how long that took. */
  forget(): void {
    this.#epoch += 1
  }

  /** What counts for the calls of this caller. */
  of(caller: string): Times {
    const own = this.#callers.of(caller)
    return own === undefined || own.p95 === null ? this.#ofAll() : own
  }

  get average(): number {
    return this.#ofAll().average
  }

  get p95(): number | null {
    return this.#ofAll().p95
  }

  get p99(): number | null {
    return this.#ofAll().p99
  }

  #ofAll(): Times {
    const every = Math.min(POOLED_EVERY, this.#pooledAt + 1)
    if (this.#added - this.#pooledAt < every) return this.#pooled
    this.#pooledAt = this.#added
    const all = this.#callers.values()
    return (this.#pooled = {
      average: medianOf(all.map(({ average }) => average)) ?? 0,
      p95: medianOf(all.map(({ p95 }) => p95)),
      p99: medianOf(all.map(({ p99 }) => p99)),
    })
  }
}

/** Of two the smaller. */
function medianOf(values: readonly (number | null)[]): number | null {
  const known = values.filter(value => value !== null).sort((a, b) => a - b)
  return known[(known.length - 1) >> 1] ?? null
}
