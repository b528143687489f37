/** How many calls one body to a route may hold: what routes.yaml allows, and what its upstream has shown to take. */

/** Milliseconds for which calls go one by one to an upstream that took a body of several badly. */
const REMEMBERED = 600_000
/** Bytes of a reply to several calls that are held: a longer one would keep the event loop busy for too long. */
export const MOST_REPLIED = 1024 * 1024
/** What an answer is expected to need beside the average, so that hardly a body is too long. */
const SPARE = 2
/** Share of the newest reply in the average. */
const WEIGHT = 0.25

/** How one route takes bodies of several calls. Times are in milliseconds of the monotonic clock. */
export class Batching {
  /** Calls in one body, as routes.yaml says; 1: it is never sent several. */
  readonly size: number
  #refusal: { readonly why: string; readonly until: number } | null = null
  /** Bytes of an answer, on average; 0 until there was one. */
  #bytes = 0

  constructor(size: number) {
    this.size = size
  }

  /** Calls that the next body may hold. */
  most(now: number): number {
    if (this.size === 1 || this.refusal(now) !== null) return 1
    const { size } = this
    if (this.#bytes * SPARE * size <= MOST_REPLIED) return size
    // Two at least, or nothing would show that answers have become shorter.
    return Math.max(2, Math.floor(MOST_REPLIED / (SPARE * this.#bytes)))
  }

  /** Why calls go one by one for now; null where they do not have to. */
  refusal(now: number): string | null {
    return this.#refusal === null || now >= this.#refusal.until ? null : this.#refusal.why
  }

  /** The upstream did not answer a body of several calls as it should have. */
  refuse(why: string, now: number): void {
    this.#refusal = { why, until: now + REMEMBERED }
  }

  /** A reply of so many bytes came to a body of so many calls. */
  learn(bytes: number, calls: number): void {
    this.#bytes += (bytes / calls - this.#bytes) * (this.#bytes === 0 ? 1 : WEIGHT)
  }
}
