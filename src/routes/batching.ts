/** How many calls one body to a route may hold: what routes.yaml allows, and what its upstream has shown to take. */
import { ByCaller } from './health/by-caller.ts'
import { Confirmation } from './health/confirmation.ts'

/** Milliseconds for which a caller's calls go one by one to an upstream that took a body of several badly. */
const REMEMBERED = 600_000
/** Bytes of a reply to several calls that are held: a longer one would keep the event loop busy for too long. */
export const MOST_REPLIED = 1024 * 1024
/** What an answer is expected to need beside the average, so that hardly a body is too long. */
const SPARE = 2
/** Share of the newest reply in the average. */
const WEIGHT = 0.25

/** How bodies of one caller fared. */
interface Bodies {
  /** When calls may go in one body again. */
  refusedUntil: number
  /** Bytes of an answer, on average; 0 until there was one. */
  bytes: number
}

/**
 * How one route takes bodies of several calls: by caller, as an upstream may mean the params of one call. Everybody's calls go one by one if it
 * takes a body of probes badly too. Times are in milliseconds of the monotonic clock.
 */
export class Batching {
  /** Calls in one body, as routes.yaml says; 1: it is never sent several. */
  readonly size: number
  readonly #callers = new ByCaller<Bodies>(() => ({ refusedUntil: -Infinity, bytes: 0 }))
  readonly #refusal: Confirmation<string>

  /** `refusesBodies` sends a body of probes, and returns why the upstream does not take it. */
  constructor(
    size: number,
    refusesBodies: () => Promise<string | null | undefined> = () => Promise.resolve(undefined),
  ) {
    this.size = size
    this.#refusal = new Confirmation(refusesBodies)
  }

  /** Calls that the next body of this caller may hold. */
  most(now: number, caller: string): number {
    const { size } = this
    if (size === 1) return 1
    const { refusedUntil, bytes } = this.#callers.of(caller) ?? this.#callers.everybody
    if (now < refusedUntil || this.#refusal.check(now) !== null) return 1
    if (bytes * SPARE * size <= MOST_REPLIED) return size
    // Two at least, or nothing would show that answers have become shorter.
    return Math.max(2, Math.floor(MOST_REPLIED / (SPARE * bytes)))
  }

  /** Why everybody's calls go one by one for now; null where they do not have to. */
  refusal(now: number): string | null {
    return this.#refusal.peek(now)
  }

  /** The upstream did not answer a body of several calls of this caller as it should have. */
  refuse(caller: string, now: number): void {
    this.#callers.make(caller).refusedUntil = now + REMEMBERED
    this.#refusal.suspect(now)
  }

  /** A reply of so many bytes came to a body of so many calls. */
  learn(bytes: number, calls: number, caller: string): void {
    const known = this.#callers.make(caller)
    known.bytes += (bytes / calls - known.bytes) * (known.bytes === 0 ? 1 : WEIGHT)
  }
}
