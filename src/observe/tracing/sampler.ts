/** Which calls are traced: a part of all as they begin, and some of the others at their end. */
import { randomFillSync } from 'node:crypto'
import type { TracingConfig } from '../../config/observing/types.ts'

const RANGE = 2 ** 32

/** Decides about calls as they begin, by xorshift32 (Marsaglia, 2003): `Math.random` and the clock cost more. */
export class Sampler {
  #state: number
  #threshold = 0

  /** `seed` is any number but 0. */
  constructor(seed = randomSeed()) {
    this.#state = seed | 0
  }

  /** Takes another part of all calls, from 0 to 1. */
  set part(part: number) {
    this.#threshold = part * RANGE
  }

  /** Whether the next call is of the part. */
  next(): boolean {
    let x = this.#state
    x ^= x << 13
    x ^= x >>> 17
    x ^= x << 5
    this.#state = x
    return x >>> 0 < this.#threshold
  }
}

function randomSeed(): number {
  return randomFillSync(new Uint32Array(1))[0]! || 1
}

/** Calls of a second that are kept at most, and of them those of one account: else one whose calls all fail would hide the failures of others. */
const MOST_KEPT = 50
const MOST_OF_ONE = 10
const SECOND = 1_000

/** A call that is over. */
export interface Ended {
  /** Whose it is; null for callers without a key, who are as one. */
  readonly account: string | null
  readonly isFault: boolean
  readonly ms: number
}

/** Decides about calls that were not sampled, when they are over. */
export class Keeper {
  #second = -Infinity
  #kept = 0
  /** Of that second, by account. */
  readonly #ofEach = new Map<string | null, number>()

  /** Why a call is kept that ends at `now` by the monotonic clock; null where it is not. */
  why(keep: TracingConfig['keep'], { account, isFault, ms }: Ended, now: number): 'error' | 'slow' | null {
    if (keep === null) return null
    const why = keep.errors && isFault ? 'error' : keep.slow !== null && ms >= keep.slow ? 'slow' : null
    return why !== null && this.#hasRoom(account, now) ? why : null
  }

  #hasRoom(account: string | null, now: number): boolean {
    if (now - this.#second >= SECOND) {
      this.#second = now
      this.#kept = 0
      this.#ofEach.clear()
    }
    const own = this.#ofEach.get(account) ?? 0
    if (this.#kept >= MOST_KEPT || own >= MOST_OF_ONE) return false
    this.#kept += 1
    this.#ofEach.set(account, own + 1)
    return true
  }
}
