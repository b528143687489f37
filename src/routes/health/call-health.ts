/** What calls show of a route's health: those that hang, how long they take, and how they end. */
import type { ReplyHead } from '../transport/proxy/proxied-request.ts'
import type { StreamedBody } from '../transport/streamed-body.ts'
import type { Verdict } from '../transport/verdict.ts'
import { withCause } from '../transport/cause.ts'
import { HangDetector } from './load.ts'
import type { Unanswered, Latency } from './load.ts'
import type { RouteBreaker } from './route-breaker.ts'
import type { RoutePauses } from './route-pauses.ts'

/** Errors of a node that say how far it has come, or that it is ill: a probe asks it itself. */
const PROBED_AFTER = new Set(['behind', 'unavailable'])

/** What calls that went in one body say of their route together: no more than one call says. */
export interface BodyOutcome {
  /** Whether this is the first of them that was answered, or that failed. */
  isFirst(what: 'answered' | 'failed'): boolean
}

/** Takes in how the calls of one route fare. Times are in milliseconds of the monotonic clock. */
export class CallHealth {
  readonly #latency: Latency
  readonly #hangs = new HangDetector()
  readonly #breaker: RouteBreaker
  readonly #pauses: RoutePauses
  readonly #unsure: () => void
  /** Those of replies that are on their way. */
  readonly #bodies = new Set<StreamedBody>()

  /** `unsure` is called when a probe could say more. */
  constructor(latency: Latency, breaker: RouteBreaker, pauses: RoutePauses, unsure: () => void) {
    this.#latency = latency
    this.#breaker = breaker
    this.#pauses = pauses
    this.#unsure = unsure
  }

  /** A call is sent; `end` it when it is over. */
  begin(now: number, caller: string): Unanswered {
    return this.#hangs.begin(now, caller)
  }

  end(call: Unanswered): void {
    this.#hangs.end(call)
  }

  /**
   * Whether several calls have been in flight for far longer than usual: for `caller`, or without one for who was never answered. Of calls of
   * others a caller whom the route has answered hears by a probe: they may be slow by themselves.
   */
  isHanging(now: number, caller?: string): boolean {
    if (!this.#hangs.isTelling) return false
    if (caller === undefined) return this.#hangs.isHanging(now, this.#latency.p99)
    const { p99 } = this.#latency.of(caller)
    const isAny = this.#hangs.isHanging(now, p99, caller)
    if (isAny) this.#unsure()
    return isAny && this.#latency.knows(caller) ? this.#hangs.isHanging(now, p99, caller, true) : isAny
  }

  /** Whether calls of somebody hang. */
  isSuspect(now: number): boolean {
    return this.#hangs.isTelling && this.#hangs.isSuspect(now, this.#latency.p99)
  }

  /**
   * Takes in how a call ended; `ms` is how long it took, null where that says nothing. What comes late, when nobody waits for it any
   * more, is left to a probe to judge, and so is what another call of the same body has said already.
   */
  learn(
    verdict: Verdict | ReplyHead,
    ms: number | null,
    caller: string,
    now: () => number,
    isLate = false,
    outcome: BodyOutcome | null = null,
  ): void {
    if (verdict.kind !== 'failure') {
      const isFirst = outcome === null || outcome.isFirst('answered')
      const isCounted = isFirst && !isLate
      if (ms !== null && isFirst) this.#latency.add(ms, caller)
      if ('body' in verdict) this.#follow(verdict.body, caller, now)
      else if (isCounted) this.#breaker.succeeded(caller)
      return
    }
    const { complaint, fault, why, cause } = verdict
    if (complaint !== null) this.#pauses.complain(complaint, now(), caller)
    const isCounted = fault && !isLate && (outcome === null || outcome.isFirst('failed'))
    if (isCounted) this.#failed(caller, withCause(why, cause), now())
    if (PROBED_AFTER.has(why) || complaint !== null || (fault && !isCounted)) this.#unsure()
  }

  /** Lets go of the replies that are on their way. */
  letGo(): void {
    for (const body of this.#bodies) body.destroy()
  }

  /** A reply that streams is a success or a fault when its body has ended, and neither where somebody let go of it. */
  #follow(body: StreamedBody, caller: string, now: () => number): void {
    this.#bodies.add(body)
    void body.ended.then(end => {
      this.#bodies.delete(body)
      if (end === 'whole') this.#breaker.succeeded(caller)
      else if (body.isBrokenOff) this.#failed(caller, end, now())
    })
  }

  #failed(caller: string, why: string, now: number): void {
    if (this.#breaker.failed(caller, why, now) !== null) this.#unsure()
  }
}
