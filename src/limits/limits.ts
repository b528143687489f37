/** Rates and quotas. What a call takes is a list of parts: all of them are taken, or none. */
import { requestUnits } from '../config/words/units.ts'
import type {
  Account,
  Grant,
  Limits,
  Price,
  QuotaState,
  RateLimit,
  RateState,
  Spender,
} from '../ports/limits.ts'
import type { QuotaOf } from '../ports/limit-store.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Plan } from '../snapshot/types.ts'
import { rateState } from './bucket.ts'
import type { Buckets } from './buckets.ts'
import { CallParts, MANAGEMENT } from './call-parts.ts'
import type { CallTakes, QuotaPart } from './call-parts.ts'
import type { Part, Taken } from './part.ts'

/** Reads what an account has used of a quota, on all processes; null where that cannot be read now. */
export type UsedOf = (quota: QuotaOf) => MaybePromise<number | null>

/** Limits of all callers, by the buckets of a store. */
export class CallLimits implements Limits {
  readonly #buckets: Buckets
  readonly #used: UsedOf | null
  readonly #parts = new CallParts()

  /**
   * `used` reads the ledger: what other processes hold of a quota without having used it is missing in its bucket. Null where the bucket knows better,
   * as there are no others, or no ledger has the usage of all.
   */
  constructor(buckets: Buckets, used: UsedOf | null) {
    this.#buckets = buckets
    this.#used = used
  }

  take(spender: Spender, price: Price, now: number, monotonic?: number): MaybePromise<Grant | Refusal> {
    const takes = this.#parts.ofCall(spender, price, now)
    const refused = this.#takeAll(takes.parts, monotonic)
    return refused instanceof Promise
      ? refused.then(refusal => refusal ?? new CallGrant(this, takes, price.units, now))
      : (refused ?? new CallGrant(this, takes, price.units, now))
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
    return rateState({ tokens: this.#buckets.level(part), at: now }, rate, now)
  }

  quota(account: Account, plan: Plan, now: number): MaybePromise<QuotaState | null | 'unreadable'> {
    const part = this.#parts.quota(account, plan, 0, now)
    if (part === null) return null
    const used = this.#used === null ? this.#taken(part) : this.#used(part.quota)
    return used instanceof Promise ? used.then(units => stateOf(part, units)) : stateOf(part, used)
  }

  /** Units that the bucket of a quota has granted. */
  #taken(part: QuotaPart): MaybePromise<number | null> {
    const takenOf = (level: number | null): number | null =>
      level === null ? null : part.limit.burst - level
    const level = this.#buckets.ask(part)
    return level instanceof Promise ? level.then(takenOf) : takenOf(level)
  }

  /** Puts back what a grant took. */
  giveBack(parts: readonly Part[]): void {
    for (const part of parts) this.#buckets.giveBack(part)
  }

  #takeAll(parts: readonly Part[], now = this.#buckets.now()): MaybePromise<Refusal | null> {
    for (let i = 0; i < parts.length; i += 1) {
      const one = this.#buckets.take(parts[i]!, now)
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
      taken.push(this.#buckets.take(parts[taken.length]!, now))
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
class CallGrant implements Grant {
  readonly #limits: CallLimits
  readonly #takes: CallTakes
  readonly units: number
  readonly at: number
  #isOver = false

  constructor(limits: CallLimits, takes: CallTakes, units: number, at: number) {
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

function stateOf({ limit, quota }: QuotaPart, used: number | null): QuotaState | 'unreadable' {
  return used === null ? 'unreadable' : { requests: limit.burst, used, resetsAt: quota.window.end }
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
    : refuse('quota_exhausted', 'The daily limit of this endpoint is used up', {
        scope: 'endpoint',
        resetsAt: quota.window.end,
      })
}

/** The refusal of a call that has to wait; `units` is what it costs. */
export function rateLimited(retryAfterMs: number, limit: RateLimit, units: number): Refusal {
  const { perSecond } = limit
  const why =
    limit === MANAGEMENT
      ? `${perSecond} management calls per second`
      : `${requestUnits(perSecond)} per second; this call costs ${units}`
  return refuse('rate_limited', `Rate limit exceeded: ${why}`, { retryAfterMs, limit: perSecond })
}
