/**
 * The breakers of a route: one for each caller whose calls fail, and one for everybody. While probes fail, that one holds for every caller.
 * Where calls alone have opened it, it holds for callers whom the route has not answered: the others are judged by their own calls, so that
 * no number of strangers whose calls fail moves them. It holds for accounts only if calls of accounts have opened it: workers do not know whom
 * the route has answered in another one.
 */
import { Breaker } from './breaker.ts'
import type { BreakerStanding, BreakerState, LastFailure } from './breaker.ts'
import { ByCaller, isAccount } from './by-caller.ts'
import type { Latency } from './load.ts'

/** Callers with a breaker that is not closed, after which that of everybody opens. */
const SEVERAL = 2
/** Callers whose last call failed, with no success of anybody in between, that open it too. */
const IN_A_ROW = 3

/** Callers whom the route has answered. */
type Answered = Pick<Latency, 'knows' | 'forget'>

const NOBODY: Answered = { knows: () => false, forget: () => undefined }

/** What came of a failure: whether it opened a breaker, and so is worth a probe. */
export type Opened = 'for everybody' | 'for the caller' | null

/** Closed, open or half-open by caller. Times are in milliseconds of a monotonic clock. */
export class RouteBreaker {
  /** What failed last, as a word for the operator; null while all is well. */
  lastError: string | null = null
  /** When it failed last. */
  #failedAt = 0
  readonly #breakers = new ByCaller(() => new Breaker())
  /** Who failed since anybody's last success, as far as that matters. */
  readonly #failingAccounts = new Set<string>()
  readonly #failingAddresses = new Set<string>()
  /** Whether a probe, or calls of accounts alone, would have opened that of everybody. */
  #holdsForAccounts = false
  /** Whether our probes see what calls see: only then may a probe close it. */
  #probesFail = false
  /** Whether the last probe failed. */
  #isConfirmed = false
  readonly #answered: Answered

  constructor(answered = NOBODY) {
    this.#answered = answered
  }

  /** The state for a caller; without one for callers whom the route has not answered. */
  state(now: number, caller?: string): BreakerState {
    const state = this.#breakers.everybody.state(now)
    if (caller === undefined) return state
    const own = this.#breakers.of(caller)?.state(now) ?? 'closed'
    if (state === 'closed') return own
    const isAlone = this.#answered.knows(caller) || (isAccount(caller) && !this.#holdsForAccounts)
    if (!this.#isConfirmed && isAlone) return own
    // A caller whose own calls fail does not test the route for the others.
    return own === 'open' ? own : state
  }

  /** Whether it holds for every caller: a probe has failed, and none has been answered since. */
  get isConfirmed(): boolean {
    return this.#isConfirmed
  }

  /** Whether everybody's pause is over, and neither a call nor a probe has been answered since it began. */
  isUntested(now: number): boolean {
    return this.#breakers.everybody.isUntested(now)
  }

  /** What failed last, and how many milliseconds ago; null while all is well. */
  lastFailure(now: number): LastFailure | null {
    return this.lastError === null ? null : { why: this.lastError, ms: now - this.#failedAt }
  }

  /** Milliseconds until a call of anybody may try; 0 when one may now. */
  retryIn(now: number): number {
    return this.#breakers.everybody.retryIn(now)
  }

  /** Callers that are kept away while others are served. */
  keptAway(now: number): number {
    return this.#breakers.count(breaker => breaker.state(now) === 'open')
  }

  /** A call of this caller goes through to see. */
  beginTest(now: number, caller: string): void {
    const { everybody } = this.#breakers
    if (everybody.state(now) === 'half-open') everybody.beginTest(now)
    const own = this.#breakers.of(caller)
    if (own?.state(now) === 'half-open') own.beginTest(now)
  }

  succeeded(caller: string): void {
    this.lastError = null
    this.#breakers.everybody.succeeded()
    this.#forgetFailing()
    const own = this.#breakers.of(caller)
    if (own === undefined) return
    own.succeeded()
    if (own.isQuiet) this.#breakers.forget(caller)
  }

  failed(caller: string, why: string, now: number): Opened {
    this.lastError = why
    this.#failedAt = now
    const { everybody } = this.#breakers
    const own = this.#breakers.make(caller)
    const [wasOpen, wasOwnOpen] = [everybody.state(now) === 'open', own.state(now) === 'open']
    own.failed(now)
    const failing = isAccount(caller) ? this.#failingAccounts : this.#failingAddresses
    if (failing.size < IN_A_ROW) failing.add(caller)
    const isOpen = (breaker: Breaker): boolean => breaker.state(now) !== 'closed'
    const accounts = this.#failingAccounts.size
    if (accounts >= IN_A_ROW || this.#breakers.countAmong(isAccount, isOpen) >= SEVERAL)
      this.#holdsForAccounts = true
    const saySo =
      accounts + this.#failingAddresses.size >= IN_A_ROW || this.#breakers.count(isOpen) >= SEVERAL
    if (everybody.state(now) !== 'closed' || saySo) everybody.open(now)
    if (!wasOpen && everybody.state(now) === 'open') return 'for everybody'
    return wasOwnOpen || own.state(now) !== 'open' ? null : 'for the caller'
  }

  #forgetFailing(): void {
    this.#holdsForAccounts = false
    if (this.#failingAccounts.size > 0) this.#failingAccounts.clear()
    if (this.#failingAddresses.size > 0) this.#failingAddresses.clear()
  }

  /** A probe failed. One is enough where calls say the same (`isSuspect`: by hanging); else it takes as many as calls do. */
  probeFailed(why: string, now: number, isSuspect: boolean): void {
    this.lastError = why
    this.#failedAt = now
    this.#probesFail = this.#isConfirmed = this.#holdsForAccounts = true
    const { everybody } = this.#breakers
    if (isSuspect || this.#breakers.count(breaker => breaker.state(now) !== 'closed') > 0) everybody.open(now)
    else everybody.failed(now)
    // What it answered before its outage says nothing of how it comes back.
    if (everybody.state(now) !== 'closed') this.#answered.forget()
  }

  /** A probe was answered: the next call may try. Only where probes failed as well do they close it. */
  probeSucceeded(now: number): void {
    this.#isConfirmed = false
    const { everybody } = this.#breakers
    const state = everybody.state(now)
    if (state === 'closed' || (state === 'half-open' && this.#probesFail)) {
      everybody.succeeded()
      if (this.#probesFail) this.lastError = null
      this.#probesFail = false
    } else everybody.halfOpen(now)
    for (const own of this.#breakers.own()) own.halfOpen(now)
  }

  /** A probe that calls gave rise to was answered: what they say is tested at once, unless such a test has failed before. */
  notConfirmed(now: number): void {
    this.#isConfirmed = false
    const { everybody } = this.#breakers
    if (everybody.isFirstPause) everybody.halfOpen(now)
  }

  /** How it stands for everybody, for another process; null while it is closed. */
  standing(now: number): BreakerStanding | null {
    const { pause, isVouchedFor } = this.#breakers.everybody
    return pause === 0 ? null : { pause, isVouchedFor, left: this.retryIn(now), last: this.lastFailure(now) }
  }

  /** Keeps everybody away for at least as long as another process does, because its probes fail. */
  match(standing: BreakerStanding, now: number): void {
    const { last } = standing
    if (this.lastError === null && last !== null) {
      this.lastError = last.why
      this.#failedAt = now - last.ms
    }
    this.#probesFail = true
    this.#breakers.everybody.match(standing, now)
  }
}
