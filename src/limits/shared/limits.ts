/** Rates and quotas that several processes share. What a call takes is a list of parts: all of them are taken, or none. */
import type { Account, Grant, Limits, Price, QuotaState, RateState, Spender } from '../../ports/limits.ts'
import type { QuotaOf } from '../../ports/limit-store.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Plan } from '../../snapshot/types.ts'
import { rateState } from '../bucket.ts'
import { dayExhausted } from '../endpoint-day.ts'
import { rateLimited } from '../rate-limited.ts'
import type { Asking } from './asking.ts'
import { CallParts } from './call-parts.ts'
import type { CallTakes, QuotaPart } from './call-parts.ts'
import type { Part, Taken } from './part.ts'

/** Reads what an account has used of a quota, on all processes; null where that cannot be read now. */
export type UsedOf = (quota: QuotaOf) => MaybePromise<number | null>

/** Limits of all callers, by the buckets of a store. */
export class SharedLimits implements Limits {
  readonly #asking: Asking
  readonly #used: UsedOf | null
  readonly #parts = new CallParts()

  /** `used` reads the ledger: what processes hold of a quota without having used it is in no bucket. Null where no ledger has the usage of all. */
  constructor(asking: Asking, used: UsedOf | null) {
    this.#asking = asking
    this.#used = used
  }

  take(spender: Spender, price: Price, now: number, monotonic?: number): MaybePromise<Grant | Refusal> {
    const takes = this.#parts.ofCall(spender, price, now)
    const refused = this.#takeAll(takes.parts, monotonic)
    return refused instanceof Promise
      ? refused.then(refusal => refusal ?? new SharedGrant(this, takes, price.units, now))
      : (refused ?? new SharedGrant(this, takes, price.units, now))
  }

  takeManagement(account: Account): MaybePromise<Refusal | null> {
    return this.#takeAll([this.#parts.management(account)])
  }

  rate(spender: Spender, now: number): RateState | null {
    const { payer, plan, address } = spender
    const { rate } = payer?.plan ?? plan
    if (rate === null) return null
    const part =
      payer === null
        ? this.#parts.addressRate(address, rate, 0)
        : this.#parts.accountRate(payer.account, rate)
    return rateState({ tokens: this.#asking.level(part), at: now }, rate, now)
  }

  async quota(account: Account, plan: Plan, now: number): Promise<QuotaState | null | 'unreadable'> {
    const part = this.#parts.quota(account, plan, 0, now)
    if (part === null || plan.quota === null) return null
    const used = this.#used === null ? await this.#taken(part) : await this.#used(part.quota)
    if (used === null) return 'unreadable'
    return { requests: plan.quota.requests, used, resetsAt: part.quota.window.end }
  }

  /** Units that the bucket of a quota has granted. */
  async #taken(part: QuotaPart): Promise<number | null> {
    const level = await this.#asking.ask(part)
    return level === null ? null : part.limit.burst - level
  }

  /** Puts back what a grant took. */
  giveBack(parts: readonly Part[]): void {
    for (const part of parts) this.#asking.giveBack(part)
  }

  #takeAll(parts: readonly Part[], now = this.#asking.now()): MaybePromise<Refusal | null> {
    for (let i = 0; i < parts.length; i += 1) {
      const one = this.#asking.take(parts[i]!, now)
      if (one !== 0) return this.#takeRest(parts, i, one, now)
    }
    return null
  }

  /** Goes on behind a part that is not there at once. Questions of parts that are beyond an allowance share a message. */
  #takeRest(
    parts: readonly Part[],
    at: number,
    first: MaybePromise<Taken>,
    now: number,
  ): MaybePromise<Refusal | null> {
    const taken: MaybePromise<Taken>[] = [...parts.slice(0, at).map(() => 0), first]
    // A part that is refused here spares the questions of the others.
    while (taken.length < parts.length && (taken.at(-1) === 0 || taken.at(-1) instanceof Promise))
      taken.push(this.#asking.take(parts[taken.length]!, now))
    return taken.some(one => one instanceof Promise)
      ? Promise.all(taken.map(async one => one)).then(all => this.#settle(parts, all))
      : this.#settle(parts, taken as Taken[])
  }

  /** What the first part says that was not taken; the others are given back. */
  #settle(parts: readonly Part[], taken: readonly Taken[]): Refusal | null {
    const missing = taken.findIndex(wait => wait !== 0)
    if (missing === -1) return null
    this.giveBack(parts.filter((_, i) => taken[i] === 0))
    return refusalOf(parts[missing]!, taken[missing]!)
  }
}

/** What a call took. A class, as there is one for each call. */
class SharedGrant implements Grant {
  readonly #limits: SharedLimits
  readonly #takes: CallTakes
  readonly units: number
  readonly at: number
  #isOver = false

  constructor(limits: SharedLimits, takes: CallTakes, units: number, at: number) {
    this.#limits = limits
    this.#takes = takes
    this.units = units
    this.at = at
  }

  get period(): number {
    return this.#takes.quota?.quota.window.start ?? 0
  }

  giveBack(): void {
    if (!this.#isOver) this.#limits.giveBack(this.#takes.parts)
    this.#isOver = true
  }
}

/** What a call is told of the part that was not to be had. */
function refusalOf({ limit, quota, units }: Part, wait: Taken): Refusal {
  if (wait === null) return refuse('journal_unavailable')
  if (quota === undefined) return rateLimited(wait, limit, units)
  if (wait !== Infinity)
    return refuse('quota_exhausted', 'The quota cannot be checked now', {
      retryAfterMs: wait,
      resetsAt: quota.window.end,
    })
  return quota.endpoint === undefined
    ? refuse('quota_exhausted', undefined, { scope: 'account', resetsAt: quota.window.end })
    : dayExhausted(quota.window)
}
