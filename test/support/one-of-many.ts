/** The limits of one process that shares its buckets with others, at the time that each call names. */
import { Asking } from '../../src/limits/shared/asking.ts'
import { SharedBuckets } from '../../src/limits/shared/buckets.ts'
import { SharedLimits } from '../../src/limits/shared/limits.ts'
import type { Account, Grant, Limits, Price, QuotaState, RateState, Spender } from '../../src/ports/limits.ts'
import type { MaybePromise } from '../../src/ports/maybe-promise.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import type { Plan } from '../../src/snapshot/types.ts'

/** `SharedLimits` whose clock is moved by the calls themselves. */
export class OneOfMany implements Limits {
  #now = 0
  readonly #limits: SharedLimits

  constructor(used: () => number | null) {
    const clock = { now: () => this.#now, monotonic: () => this.#now, after: () => () => undefined }
    const store = new SharedBuckets(clock, used).of('one')
    this.#limits = new SharedLimits(new Asking({ store, clock, every: 25, processes: 2 }), used)
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

  #at(now: number): SharedLimits {
    this.#now = now
    return this.#limits
  }
}
