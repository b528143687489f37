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

/** Calls of a second that are kept at most. */
const MOST_KEPT = 50
const SECOND = 1_000

/** Decides about calls that were not sampled, when they are over. */
export class Keeper {
  #second = -Infinity
  #kept = 0

  /** Why a call is kept that ends at `now` by the monotonic clock; null where it is not. */
  why(
    keep: TracingConfig['keep'],
    { isFault, ms }: { readonly isFault: boolean; readonly ms: number },
    now: number,
  ): 'error' | 'slow' | null {
    if (keep === null) return null
    const why = keep.errors && isFault ? 'error' : keep.slow !== null && ms >= keep.slow ? 'slow' : null
    return why !== null && this.#hasRoom(now) ? why : null
  }

  #hasRoom(now: number): boolean {
    if (now - this.#second >= SECOND) {
      this.#second = now
      this.#kept = 0
    }
    this.#kept += 1
    return this.#kept <= MOST_KEPT
  }
}
