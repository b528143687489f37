/** Limits at the time that each call names. */
import type { Buckets } from '../../src/limits/buckets.ts'
import { CallLimits } from '../../src/limits/limits.ts'
import type { Clock } from '../../src/ports/clock.ts'
import type { Account, Grant, Limits, Price, QuotaState, RateState, Spender } from '../../src/ports/limits.ts'
import type { MaybePromise } from '../../src/ports/maybe-promise.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import type { Plan } from '../../src/snapshot/types.ts'

/** `CallLimits` over some buckets whose clock is moved by the calls themselves. */
export class Timed implements Limits {
  #now = 0
  readonly #limits: CallLimits

  constructor(used: (() => number | null) | null, make: (clock: Clock) => Buckets) {
    const clock = { now: () => this.#now, monotonic: () => this.#now, after: () => () => undefined }
    this.#limits = new CallLimits(make(clock), used)
  }

  take(spender: Spender, price: Price, now: number): MaybePromise<Grant | Refusal> {
    return this.#at(now).take(spender, price, now)
  }

  takeManagement(account: Account, now: number): MaybePromise<Refusal | null> {
    return this.#at(now).takeManagement(account)
  }

  rate(spender: Spender, now: number): RateState | null {
    return this.#at(now).rate(spender, now)
  }

  quota(account: Account, plan: Plan, now: number): MaybePromise<QuotaState | null | 'unreadable'> {
    return this.#at(now).quota(account, plan, now)
  }

  #at(now: number): CallLimits {
    this.#now = now
    return this.#limits
  }
}
