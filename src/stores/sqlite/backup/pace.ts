/** Work beside a gateway that has to notice nothing of it: a piece, and a rest after it, so that the work takes longer and each second costs little. */

/**
 * The part of the time that is worked. Copying at full speed costs a gateway under full load about a seventh of its calls per second, although it has a core
 * to itself (bench/backup.ts).
 */
const SHARE = 1 / 8

/** Where time comes from. */
export interface Rest {
  now(): number
  /** Stands still for milliseconds; what another thread does meanwhile goes on. */
  sleep(ms: number): void
}

const still = new Int32Array(new SharedArrayBuffer(4))
const system: Rest = {
  now: () => performance.now(),
  sleep: ms => void Atomics.wait(still, 0, 0, ms),
}

/** Rests after each piece of work for as long as keeps to the share; not at all where nobody is disturbed. */
export class Pace {
  readonly #isAlone: boolean
  readonly #rest: Rest
  #since: number

  constructor({ isAlone }: { readonly isAlone: boolean }, rest = system) {
    this.#isAlone = isAlone
    this.#rest = rest
    this.#since = rest.now()
  }

  /** To be called after each piece. */
  rest(): void {
    if (this.#isAlone) return
    const worked = this.#rest.now() - this.#since
    this.#rest.sleep(worked / SHARE - worked)
    this.#since = this.#rest.now()
  }
}
