/** The buckets that a call takes from, and what it takes from each. */
import type { Account, Payer, Price, RateLimit, Spender } from '../ports/limits.ts'
import type { Plan } from '../snapshot/types.ts'
import { DAY, dayAt, windowAt } from './window.ts'
import type { Part } from './part.ts'

/** Rate of `service_*` calls, per account (design, "Management"). */
export const MANAGEMENT: RateLimit = { perSecond: 10, burst: 30 }

/** What a call takes of a quota. */
export interface QuotaPart extends Part {
  readonly quota: NonNullable<Part['quota']>
}

/** All that a call takes. */
export interface CallTakes {
  readonly parts: readonly Part[]
  /** The part of the account's quota among them; null on a plan without one. */
  readonly quota: QuotaPart | null
}

/** The same of an endpoint's last call, and what it was of. */
interface LastCall extends CallTakes {
  readonly payer: Payer
  readonly price: Price
  readonly day: QuotaPart | null
}

/** The parts of an account's last call. */
interface AccountParts {
  rate: Part | null
  readonly management: Part
  quota: QuotaPart | null
}

/** And of an endpoint's. */
interface EndpointParts {
  rate: Part | null
  day: QuotaPart | null
}

/**
 * Parts of calls. They are kept from one call to the next, by the account and the endpoint as those were last read: a key that is made for each call is
 * hashed for each call too, and its bucket searched for, which is 5 % of a locally answered call (bench/workers.ts).
 */
export class CallParts {
  readonly #accounts = new WeakMap<Account, AccountParts>()
  readonly #endpoints = new WeakMap<Payer['endpoint'], EndpointParts>()
  readonly #lastCalls = new WeakMap<Payer['endpoint'], LastCall>()

  /** Rates come first: who is over them takes nothing of a quota. A call like the last one of its endpoint takes from the same list. */
  ofCall(spender: Spender, price: Price, now: number): CallTakes {
    const { payer } = spender
    if (payer === null) return { parts: this.rates(spender, price), quota: null }
    const last = this.#lastCalls.get(payer.endpoint)
    if (last !== undefined && isLike(last, payer, price, now)) return last
    const day = this.day(payer, price.units, now)
    const quota = this.quota(payer.account, payer.plan, price.units, now)
    const parts = [...this.rates(spender, price), day, quota].filter(part => part !== null)
    const takes = { parts, quota, day, payer, price }
    this.#lastCalls.set(payer.endpoint, takes)
    return takes
  }

  /** The rates that a call takes from. What costs nothing takes one management call: nothing is free of any limit. */
  rates({ payer, plan, address }: Spender, { units, isRated }: Price): Part[] {
    if (payer === null) {
      const taken = isRated ? Math.max(units, 1) : units
      return plan.rate === null ? [] : [this.addressRate(address, plan.rate, taken)]
    }
    if (!isRated) return []
    if (units === 0) return [this.management(payer.account)]
    const parts: Part[] = []
    if (payer.endpointRate !== null) parts.push(this.#endpointRate(payer, payer.endpointRate, units))
    if (payer.plan.rate !== null) parts.push(this.accountRate(payer.account, payer.plan.rate, units))
    return parts
  }

  addressRate(address: string, limit: RateLimit, units: number): Part {
    return { key: rateKey(`{address ${address}}`, limit), limit, units }
  }

  /** For a call of so many units; absent: of as many as the last one. */
  accountRate(account: Account, limit: RateLimit, units?: number): Part {
    const parts = this.#ofAccount(account)
    const last = parts.rate
    return (parts.rate = isOf(last, limit)
      ? again(last, units ?? last.units)
      : { key: rateKey(`{${account.id}}`, limit), limit, units: units ?? 0 })
  }

  management(account: Account): Part {
    return this.#ofAccount(account).management
  }

  quota(account: Account, { quota }: Plan, units: number, now: number): QuotaPart | null {
    if (quota === null) return null
    const { requests, every } = quota
    const parts = this.#ofAccount(account)
    const last = parts.quota
    if (last?.quota.every === every && last.limit.burst === requests && isWithin(last, now))
      return (parts.quota = again(last, units))
    const { id, createdAt } = account
    const window = windowAt(every, createdAt, now)
    const key = `{${id}}:quota:${every}:${window.start}`
    const limit = { perSecond: 0, burst: requests }
    return (parts.quota = { key, limit, units, quota: { account: id, window, every } })
  }

  /** What the endpoint may use today; null where it has no such limit, or the call costs nothing. */
  day({ account, endpoint }: Payer, units: number, now: number): QuotaPart | null {
    const { id, dailyLimit, limitedSince } = endpoint
    if (dailyLimit === null || units === 0) return null
    const parts = this.#ofEndpoint(endpoint)
    if (parts.day !== null && isWithin(parts.day, now)) return (parts.day = again(parts.day, units))
    const window = dayAt(now)
    const key = `{${account.id}}:day:${id}:${window.start}:${limitedSince}`
    const limit = { perSecond: 0, burst: dailyLimit }
    const quota = { account: account.id, endpoint: id, window, every: DAY }
    return (parts.day = { key, limit, units, quota })
  }

  #endpointRate({ account, endpoint }: Payer, limit: RateLimit, units: number): Part {
    const parts = this.#ofEndpoint(endpoint)
    const last = parts.rate
    return (parts.rate = isOf(last, limit)
      ? again(last, units)
      : { key: rateKey(`{${account.id}}:${endpoint.id}`, limit), limit, units })
  }

  #ofAccount(account: Account): AccountParts {
    let parts = this.#accounts.get(account)
    if (parts === undefined) {
      const management: Part = { key: `{${account.id}}:management`, limit: MANAGEMENT, units: 1 }
      this.#accounts.set(account, (parts = { rate: null, management, quota: null }))
    }
    return parts
  }

  #ofEndpoint(endpoint: Payer['endpoint']): EndpointParts {
    let parts = this.#endpoints.get(endpoint)
    if (parts === undefined) this.#endpoints.set(endpoint, (parts = { rate: null, day: null }))
    return parts
  }
}

/** The bucket of a limit. Another limit has another bucket: what was taken of the one before and is reported late is no debt of its successor. */
function rateKey(whose: string, { perSecond, burst }: RateLimit): string {
  return `${whose}:rate:${perSecond}/${burst}`
}

function isOf(part: Part | null, { perSecond, burst }: RateLimit): part is Part {
  return part !== null && part.limit.perSecond === perSecond && part.limit.burst === burst
}

/** Whether a call takes the same as the last one. */
function isLike(last: LastCall, payer: Payer, { units, isRated }: Price, now: number): boolean {
  const { quota, day } = last
  return (
    units === last.price.units &&
    isRated === last.price.isRated &&
    payer.account === last.payer.account &&
    payer.plan === last.payer.plan &&
    payer.endpointRate?.perSecond === last.payer.endpointRate?.perSecond &&
    payer.endpointRate?.burst === last.payer.endpointRate?.burst &&
    (quota === null || isWithin(quota, now)) &&
    (day === null || isWithin(day, now))
  )
}

/** The same bucket, for a call of so many units. */
function again<P extends Part>(part: P, units: number): P {
  return part.units === units ? part : { ...part, units }
}

/** Whether the window of a quota is still the one of `now`. */
function isWithin({ quota: { window } }: QuotaPart, now: number): boolean {
  const at = now / 1000
  return at >= window.start && at < window.end
}
