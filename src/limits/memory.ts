/** Rates and quotas in the memory of one process. Nothing in it waits, so limits hold when calls race. */
import type {
  Account,
  Grant,
  Limits,
  Payer,
  Price,
  QuotaState,
  RateLimit,
  RateState,
  Spender,
} from '../ports/limits.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Plan } from '../snapshot/types.ts'
import { AccountMeter } from './account-meter.ts'
import type { UsedInWindow, Window } from './account-meter.ts'
import { BoundedCache } from './bounded-cache.ts'
import { newBucket, putBack, rateState, take } from './bucket.ts'
import type { Bucket } from './bucket.ts'
import { DayMeter } from './endpoint-day.ts'
import { MANAGEMENT, rateLimited } from './rate-limited.ts'

/** Accounts, endpoints and addresses whose buckets are in memory; who was not heard of for long starts with a full one. */
const REMEMBERED = 100_000

/** Limits of all callers. What an account has used of its quota is read from the ledger once, and counted here from then on. */
export class MemoryLimits implements Limits {
  readonly #usedInWindow: UsedInWindow
  readonly #accounts = new BoundedCache<AccountMeter>(REMEMBERED)
  readonly #endpoints = new BoundedCache<Bucket>(REMEMBERED)
  readonly #days = new BoundedCache<DayMeter>(REMEMBERED)
  readonly #management = new BoundedCache<Bucket>(REMEMBERED)
  readonly #addresses = new BoundedCache<Bucket>(REMEMBERED)

  constructor(usedInWindow: UsedInWindow) {
    this.#usedInWindow = usedInWindow
  }

  take(spender: Spender, price: Price, now: number): Grant | Refusal {
    const { payer } = spender
    if (payer === null) return this.#takePublic(spender, price, now)
    const meter = this.#meterOf(payer.account)
    const limited = price.isRated ? this.#takeRate(payer, meter, price.units, now) : null
    if (limited !== null) return limited
    const day = this.#takeDay(payer, price.units, now)
    const quota = day !== null && isRefusal(day) ? day : takeQuota(payer, meter, price.units, now)
    if (quota !== null && isRefusal(quota)) {
      if (price.isRated) this.#returnRate(payer, meter, price.units)
      if (day !== null && !isRefusal(day)) this.#dayOf(payer).giveBack(day, price.units, true)
      return quota
    }
    return new AccountGrant(this, payer, price, now, quota, day as Window | null)
  }

  takeManagement({ id }: Account, now: number): Refusal | null {
    let bucket = this.#management.get(id)
    if (bucket === undefined) this.#management.set(id, (bucket = newBucket(MANAGEMENT, now)))
    const wait = take(bucket, MANAGEMENT, 1, now)
    return wait === 0 ? null : rateLimited(wait, MANAGEMENT, 1)
  }

  rate({ payer, plan, address }: Spender, now: number): RateState | null {
    if (payer !== null)
      return payer.plan.rate === null ? null : this.#meterOf(payer.account).rate(payer.plan, now)
    return plan.rate === null ? null : rateState(this.#bucketOf(address, plan.rate, now), plan.rate, now)
  }

  quota(account: Account, plan: Plan, now: number): QuotaState | null | 'unreadable' {
    return this.#meterOf(account).quota(plan, now)
  }

  /** Puts back what a grant took. */
  giveBack(payer: Payer, { units, isRated }: Price, { reading, day }: Readings, wasRecorded: boolean): void {
    const meter = this.#meterOf(payer.account)
    if (isRated) this.#returnRate(payer, meter, units)
    if (day !== null) this.#dayOf(payer).giveBack(day, units, wasRecorded)
    // A window that was read anew since does not hold what never came to the disk.
    if (wasRecorded || meter.isReading(reading)) meter.returnQuota(reading?.start ?? 0, units)
  }

  /** From the endpoint's bucket and the account's, or from neither. */
  #takeRate(
    { account, endpoint, plan, endpointRate }: Payer,
    meter: AccountMeter,
    units: number,
    now: number,
  ): Refusal | null {
    if (units === 0) return this.takeManagement(account, now)
    if (endpointRate !== null) {
      const bucket = this.#endpoints.get(endpoint.id) ?? newBucket(endpointRate, now)
      this.#endpoints.set(endpoint.id, bucket)
      const wait = take(bucket, endpointRate, units, now)
      if (wait > 0) return rateLimited(wait, endpointRate, units)
    }
    if (plan.rate === null) return null
    const wait = meter.takeRate(plan.rate, units, now)
    if (wait === 0) return null
    this.#returnEndpointRate(endpoint.id, endpointRate, units)
    return rateLimited(wait, plan.rate, units)
  }

  #returnRate({ account, endpoint, plan, endpointRate }: Payer, meter: AccountMeter, units: number): void {
    if (units === 0) {
      const bucket = this.#management.get(account.id)
      if (bucket !== undefined) putBack(bucket, MANAGEMENT, 1)
      return
    }
    this.#returnEndpointRate(endpoint.id, endpointRate, units)
    if (plan.rate !== null) meter.returnRate(plan.rate, units)
  }

  #returnEndpointRate(id: string, rate: RateLimit | null, units: number): void {
    if (rate === null) return
    const bucket = this.#endpoints.get(id)
    if (bucket !== undefined) putBack(bucket, rate, units)
  }

  /** From what the endpoint may use today; null where it has no such limit, or the call costs nothing. */
  #takeDay(payer: Payer, units: number, now: number): Window | Refusal | null {
    const { endpoint } = payer
    return endpoint.dailyLimit === null || units === 0 ? null : this.#dayOf(payer).take(endpoint, units, now)
  }

  #dayOf({ account, endpoint: { id } }: Payer): DayMeter {
    let day = this.#days.get(id)
    if (day === undefined) this.#days.set(id, (day = new DayMeter(account.id, id, this.#usedInWindow)))
    return day
  }

  #takePublic({ plan, address }: Spender, { units, isRated }: Price, now: number): Grant | Refusal {
    const taken = isRated ? Math.max(units, 1) : units
    const limited = this.#takeAddress(plan.rate, address, taken, now)
    if (limited !== null) return limited
    return {
      units,
      at: now,
      period: 0,
      giveBack: () => {
        const bucket = this.#addresses.get(address)
        if (plan.rate !== null && bucket !== undefined) putBack(bucket, plan.rate, taken)
      },
    }
  }

  #takeAddress(limit: RateLimit | null, address: string, units: number, now: number): Refusal | null {
    if (limit === null) return null
    const wait = take(this.#bucketOf(address, limit, now), limit, units, now)
    return wait === 0 ? null : rateLimited(wait, limit, units)
  }

  #bucketOf(address: string, limit: RateLimit, now: number): Bucket {
    let bucket = this.#addresses.get(address)
    if (bucket === undefined) this.#addresses.set(address, (bucket = newBucket(limit, now)))
    return bucket
  }

  #meterOf(account: Account): AccountMeter {
    let meter = this.#accounts.get(account.id)
    if (meter === undefined) {
      meter = new AccountMeter(account, this.#usedInWindow)
      this.#accounts.set(account.id, meter)
    }
    return meter
  }
}

/** What units were taken from, as it was read then: the quota window, and the day of an endpoint with a daily limit. */
interface Readings {
  readonly reading: Window | null
  readonly day: Window | null
}

/** What an account's call took. A class, as there is one for each call. */
class AccountGrant implements Grant, Readings {
  readonly #limits: MemoryLimits
  readonly #payer: Payer
  readonly #price: Price
  readonly at: number
  readonly reading: Window | null
  readonly day: Window | null

  constructor(
    limits: MemoryLimits,
    payer: Payer,
    price: Price,
    at: number,
    reading: Window | null,
    day: Window | null,
  ) {
    this.#limits = limits
    this.#payer = payer
    this.#price = price
    this.at = at
    this.reading = reading
    this.day = day
  }

  get units(): number {
    return this.#price.units
  }

  get period(): number {
    return this.reading?.start ?? 0
  }

  giveBack(wasRecorded: boolean): void {
    this.#limits.giveBack(this.#payer, this.#price, this, wasRecorded)
  }
}

/** The window that the units were taken from; null on a plan without a quota. */
function takeQuota(
  { plan }: Payer,
  meter: AccountMeter,
  units: number,
  now: number,
): Window | null | Refusal {
  const reading = meter.readWindow(plan, now)
  if (reading === 'unreadable') return refuse('journal_unavailable')
  if (meter.takeQuota(plan, units)) return reading
  return refuse('quota_exhausted', undefined, { scope: 'account', resetsAt: reading?.end })
}
