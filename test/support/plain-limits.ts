/** The port Limits written as plainly as it can be, answering by promises: what is compared with the one in memory. */
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
} from '../../src/ports/limits.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import { MANAGEMENT } from '../../src/limits/call-parts.ts'
import { rateLimited } from '../../src/limits/limits.ts'
import type { Plan } from '../../src/snapshot/types.ts'

const DAY = 86_400

/** What was taken from one bucket, and when. */
class Bucket {
  #missing = 0
  #at = 0

  missing(limit: RateLimit, now: number): number {
    this.#missing = Math.max(0, this.#missing - ((now - this.#at) * limit.perSecond) / 1000)
    this.#at = now
    return this.#missing
  }

  take(limit: RateLimit, units: number, now: number): Refusal | null {
    const over = this.missing(limit, now) + units - limit.burst
    if (over > 0) {
      return rateLimited(Math.ceil((over * 1000) / limit.perSecond), limit, units)
    }
    this.#missing += units
    return null
  }

  giveBack(units: number): void {
    this.#missing -= units
  }
}

/** Quotas have a fixed length here, not a month. */
export class PlainLimits implements Limits {
  readonly #usedBefore: () => number | null
  readonly #buckets = new Map<string, Bucket>()
  readonly #used = new Map<string, number>()

  constructor(usedBefore: () => number | null) {
    this.#usedBefore = usedBefore
  }

  take(spender: Spender, price: Price, now: number): Promise<Grant | Refusal> {
    return Promise.resolve(this.#take(spender, price, now))
  }

  #take(spender: Spender, price: Price, now: number): Grant | Refusal {
    const { payer, plan, address } = spender
    const undo: (() => void)[] = []
    const takeFrom = (name: string, limit: RateLimit | null, units: number): Refusal | null => {
      if (limit === null) return null
      const bucket = this.#bucket(name)
      const refusal = bucket.take(limit, units, now)
      if (refusal === null) undo.push(() => bucket.giveBack(units))
      return refusal
    }
    const takeAll = (): Refusal | null => {
      if (payer === null)
        return takeFrom(
          `address ${address}`,
          plan.rate,
          price.isRated ? Math.max(1, price.units) : price.units,
        )
      if (!price.isRated) return null
      if (price.units === 0) return takeFrom(`management ${payer.account.id}`, MANAGEMENT, 1)
      return (
        takeFrom(`endpoint ${payer.endpoint.id}`, payer.endpointRate, price.units) ??
        takeFrom(`account ${payer.account.id}`, plan.rate, price.units)
      )
    }
    const period = payer === null ? 0 : periodOf(payer.account, plan, now)
    const refusal =
      takeAll() ??
      (payer === null
        ? null
        : (this.#takeDay(payer, price.units, now, undo) ??
          this.#takeQuota(payer.account, plan, price.units, now, undo)))
    if (refusal !== null) {
      for (const step of undo) step()
      return refusal
    }
    return {
      units: price.units,
      at: now,
      period,
      giveBack: () => {
        for (const step of undo.splice(0)) step()
      },
    }
  }

  takeManagement({ id }: Account, now: number): Promise<Refusal | null> {
    return Promise.resolve(this.#bucket(`management ${id}`).take(MANAGEMENT, 1, now))
  }

  rate({ payer, plan, address }: Spender, now: number): RateState | null {
    if (plan.rate === null) return null
    const missing = this.#bucket(
      payer === null ? `address ${address}` : `account ${payer.account.id}`,
    ).missing(plan.rate, now)
    const reset = Math.ceil(now / 1000 + missing / plan.rate.perSecond)
    return { limit: plan.rate.burst, remaining: Math.floor(plan.rate.burst - missing), reset }
  }

  quota(account: Account, plan: Plan, now: number): QuotaState | null | 'unreadable' {
    if (plan.quota === null) return null
    const used = this.#usedIn(account, periodOf(account, plan, now))
    if (used === null) return 'unreadable'
    return { requests: plan.quota.requests, used, resetsAt: periodOf(account, plan, now) + lengthOf(plan) }
  }

  #takeQuota(account: Account, plan: Plan, units: number, now: number, undo: (() => void)[]): Refusal | null {
    if (plan.quota === null) return null
    const period = periodOf(account, plan, now)
    const data = { scope: 'account', resetsAt: period + lengthOf(plan) }
    return this.#takeOf(account, period, plan.quota.requests, units, undo, data)
  }

  #takeDay({ endpoint }: Payer, units: number, now: number, undo: (() => void)[]): Refusal | null {
    if (endpoint.dailyLimit === null || units === 0) return null
    const day = Math.floor(now / 1000 / DAY) * DAY
    const data = { scope: 'endpoint', resetsAt: day + DAY }
    const id = `${endpoint.id} since ${endpoint.limitedSince}`
    return this.#takeOf({ id }, day, endpoint.dailyLimit, units, undo, data)
  }

  #takeOf(
    of: { readonly id: string },
    period: number,
    limit: number,
    units: number,
    undo: (() => void)[],
    data: object,
  ): Refusal | null {
    const key = `${of.id} ${period}`
    const used = this.#usedIn(of, period)
    if (used === null) return refuse('journal_unavailable')
    if (used + units > limit) return refuse('quota_exhausted', undefined, { ...data })
    this.#used.set(key, used + units)
    undo.push(() => this.#used.set(key, this.#used.get(key)! - units))
    return null
  }

  #usedIn({ id }: { readonly id: string }, period: number): number | null {
    const key = `${id} ${period}`
    const used = this.#used.get(key) ?? this.#usedBefore()
    if (used !== null) this.#used.set(key, used)
    return used
  }

  #bucket(name: string): Bucket {
    const bucket = this.#buckets.get(name) ?? new Bucket()
    this.#buckets.set(name, bucket)
    return bucket
  }
}

function lengthOf({ quota }: Plan): number {
  if (quota === null) return 0
  if (quota.every === 'month') throw new Error('months are left out here')
  return quota.every / 1000
}

function periodOf({ createdAt }: Account, plan: Plan, now: number): number {
  const length = lengthOf(plan)
  return length === 0 ? 0 : createdAt + Math.floor((now / 1000 - createdAt) / length) * length
}
