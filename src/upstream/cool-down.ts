/** A pause that an upstream asked for, by HTTP 429 or by a limit error in a reply. */

/** Milliseconds when the upstream did not say how long, and the most that it is believed. */
const USUAL = 1_000
const LONGEST = 60_000

/** Times are in milliseconds. */
export class CoolDown {
  #until = 0
  /** The word of the setback that began it. */
  why = ''

  isActive(now: number): boolean {
    return now < this.#until
  }

  /** `asked` is what the upstream said, 0 when it did not. */
  begin(asked: number, why: string, now: number): void {
    this.#until = Math.max(this.#until, now + (asked === 0 ? USUAL : Math.min(asked, LONGEST)))
    this.why = why
  }
}

/** Milliseconds of a Retry-After header: seconds or an HTTP date (RFC 9110, section 10.2.3); 0 when it says nothing. */
export function retryAfterMs(header: string | null, now: number): number {
  if (header === null) return 0
  if (/^\d+$/.test(header)) return Number(header) * 1000
  const at = Date.parse(header)
  return Number.isNaN(at) ? 0 : Math.max(0, at - now)
}
