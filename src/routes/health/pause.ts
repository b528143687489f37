/**
 * A pause that an upstream asked for, or that its complaint about the operator's standing calls for. Complaints one behind the other
 * make it longer: 1, 2, 4 … 60 s, and 1 s again after a quiet minute. Times are in milliseconds of a monotonic clock.
 */

const FIRST = 1_000
/** The longest pause, also where the upstream asks for more. */
const LONGEST = 60_000
/** Silence after which the next pause is a first one again. */
const QUIET = 60_000

/** What an upstream complained about: its limit on requests, or the operator's key, plan or credit. */
export type Complaint = 'limited' | 'billing'

/** One pause. */
export class Pause {
  #until = 0
  #length = 0
  #quietAt = 0
  /** The complaint that began it. */
  why: Complaint = 'limited'

  isActive(now: number): boolean {
    return now < this.#until
  }

  /** Milliseconds that are left. */
  left(now: number): number {
    return Math.max(0, this.#until - now)
  }

  /** `asked` is how long the upstream wants to be left alone, 0 when it did not say. */
  begin(asked: number, why: Complaint, now: number): void {
    // Calls that were in flight when it began complain as well; they do not lengthen it.
    if (!this.isActive(now)) this.#length = this.#next(why, now)
    const until = Math.max(this.#until, now + Math.max(this.#length, Math.min(asked, LONGEST)))
    if (until > this.#until) this.why = why
    this.#until = until
    this.#quietAt = until + QUIET
  }

  #next(why: Complaint, now: number): number {
    if (why === 'billing') return LONGEST
    return this.#length === 0 || now >= this.#quietAt ? FIRST : Math.min(this.#length * 2, LONGEST)
  }
}

/** Milliseconds of a Retry-After header: seconds or an HTTP date (RFC 9110, section 10.2.3); 0 when it says nothing. `now` is wall time. */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
