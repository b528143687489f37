/** Rates and quotas that several processes share. What a call takes is a list of parts: all of them are taken, or none. */
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
} from '../../ports/limits.ts'
import type { QuotaOf } from '../../ports/limit-store.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Plan } from '../../snapshot/types.ts'
import { windowAt } from '../account-meter.ts'
import type { Window } from '../account-meter.ts'
import { rateState } from '../bucket.ts'
import { DAY, dayAt, dayExhausted } from '../endpoint-day.ts'
import { MANAGEMENT, rateLimited } from '../rate-limited.ts'
import type { Asking } from './asking.ts'
import type { Part, Taken } from './part.ts'

/** Reads what an account has used of a quota, on all processes; null where that cannot be read now. */
export type UsedOf = (quota: QuotaOf) => MaybePromise<number | null>

/** Limits of all callers, by the buckets of a store. */
export class SharedLimits implements Limits {
  readonly #asking: Asking
  readonly #used: UsedOf | null

  /** `used` reads the ledger: what processes hold of a quota without having used it is in no bucket. Null where no ledger has the usage of all. */
  constructor(asking: Asking, used: UsedOf | null) {
    this.#asking = asking
    this.#used = used
  }

  take(spender: Spender, price: Price, now: number): MaybePromise<Grant | Refusal> {
    const { payer } = spender
    const quota = payer === null ? null : quotaOf(payer.account, payer.plan, price.units, now)
    const parts = ratesOf(spender, price)
    const day = payer === null ? null : dayOf(payer, price.units, now)
    if (day !== null) parts.push(day)
    if (quota !== null) parts.push(quota)
    const refused = this.#takeAll(parts)
    return refused instanceof Promise
      ? refused.then(refusal => refusal ?? this.#grant(parts, price, now, quota))
      : (refused ?? this.#grant(parts, price, now, quota))
  }

  takeManagement(account: Account): MaybePromise<Refusal | null> {
    return this.#takeAll([managementOf(account)])
  }

  rate(spender: Spender, now: number): RateState | null {
    const { payer, plan, address } = spender
    const { rate } = payer?.plan ?? plan
    if (rate === null) return null
    const part = payer === null ? addressRate(address, rate, 0) : accountRate(payer.account, rate, 0)
    return rateState({ tokens: this.#asking.level(part), at: now }, rate, now)
  }

  async quota(account: Account, plan: Plan, now: number): Promise<QuotaState | null | 'unreadable'> {
    const part = quotaOf(account, plan, 0, now)
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

  #grant(parts: readonly Part[], { units }: Price, at: number, quota: QuotaPart | null): Grant {
    let isOver = false
    return {
      units,
      at,
      period: quota?.quota.window.start ?? 0,
      giveBack: () => {
        if (!isOver) this.#giveBack(parts)
        isOver = true
      },
    }
  }

  #giveBack(parts: readonly Part[]): void {
    for (const part of parts) this.#asking.giveBack(part)
  }

  /** Questions of parts that are beyond an allowance share a message. */
  #takeAll(parts: readonly Part[]): MaybePromise<Refusal | null> {
    const taken: MaybePromise<Taken>[] = []
    for (const part of parts) {
      const one = this.#asking.take(part)
      taken.push(one)
      // A part that is refused here spares the questions of the others.
      if (one !== 0 && !(one instanceof Promise)) break
    }
    return taken.some(one => one instanceof Promise)
      ? Promise.all(taken.map(async one => one)).then(all => this.#settle(parts, all))
      : this.#settle(parts, taken as Taken[])
  }

  /** What the first part says that was not taken; the others are given back. */
  #settle(parts: readonly Part[], taken: readonly Taken[]): Refusal | null {
    const missing = taken.findIndex(wait => wait !== 0)
    if (missing === -1) return null
    this.#giveBack(parts.filter((_, i) => taken[i] === 0))
    return refusalOf(parts[missing]!, taken[missing]!)
  }
}

type QuotaEvery = NonNullable<Plan['quota']>['every']

interface QuotaPart extends Part {
  readonly quota: NonNullable<Part['quota']>
}

/** How the buckets of an account are called. */
interface Names {
  /** The rate of the plan that was asked for last. */
  rate: { readonly key: string; readonly limit: RateLimit } | null
  readonly management: string
  /** The quota of the window that was asked for last. */
  quota: { readonly key: string; readonly every: QuotaEvery; readonly window: Window } | null
}

/** A string that is made for each call is hashed for each call too: 4 % of a locally answered one (bench/workers.ts). */
const known = new WeakMap<Account, Names>()

function namesOf(account: Account): Names {
  let names = known.get(account)
  if (names === undefined) {
    const { id } = account
    names = { rate: null, management: `{${id}}:management`, quota: null }
    known.set(account, names)
  }
  return names
}

/** The bucket of a limit. Another limit has another bucket: what was taken of the one before and is reported late is no debt of its successor. */
function rateKey(whose: string, { perSecond, burst }: RateLimit): string {
  return `${whose}:rate:${perSecond}/${burst}`
}

function addressRate(address: string, limit: RateLimit, units: number): Part {
  return partOf(rateKey(`{address ${address}}`, limit), limit, units)
}

function accountRate(account: Account, limit: RateLimit, units: number): Part {
  const names = namesOf(account)
  if (names.rate?.limit !== limit) names.rate = { key: rateKey(`{${account.id}}`, limit), limit }
  return partOf(names.rate.key, limit, units)
}

function managementOf(account: Account): Part {
  return { key: namesOf(account).management, limit: MANAGEMENT, units: 1 }
}

function partOf(key: string, limit: RateLimit, units: number): Part {
  return { key, limit, units }
}

/** The rates that a call takes from. What costs nothing takes one management call: nothing is free of any limit. */
function ratesOf({ payer, plan, address }: Spender, { units, isRated }: Price): Part[] {
  if (payer === null) {
    const taken = isRated ? Math.max(units, 1) : units
    return plan.rate === null ? [] : [addressRate(address, plan.rate, taken)]
  }
  if (!isRated) return []
  const { account, endpoint, endpointRate } = payer
  if (units === 0) return [managementOf(account)]
  const parts: Part[] = []
  if (endpointRate !== null)
    parts.push(partOf(rateKey(`{${account.id}}:${endpoint.id}`, endpointRate), endpointRate, units))
  if (payer.plan.rate !== null) parts.push(accountRate(account, payer.plan.rate, units))
  return parts
}

function quotaOf(account: Account, { quota }: Plan, units: number, now: number): QuotaPart | null {
  if (quota === null) return null
  const { requests, every } = quota
  const { id, createdAt } = account
  const names = namesOf(account)
  let last = names.quota
  const at = now / 1000
  if (last?.every !== every || at < last.window.start || at >= last.window.end) {
    const window = windowAt(every, createdAt, now)
    names.quota = last = { key: `{${id}}:quota:${every}:${window.start}`, every, window }
  }
  const { key, window } = last
  return { key, limit: { perSecond: 0, burst: requests }, units, quota: { account: id, window, every } }
}

/** How the bucket of an endpoint's day is called, by the endpoint as it was last read. */
const days = new WeakMap<Payer['endpoint'], { readonly key: string; readonly window: Window }>()

/** What the endpoint may use today; null where it has no such limit, or the call costs nothing. */
function dayOf({ account, endpoint }: Payer, units: number, now: number): QuotaPart | null {
  const { id, dailyLimit, limitedSince } = endpoint
  if (dailyLimit === null || units === 0) return null
  let last = days.get(endpoint)
  const at = now / 1000
  if (last === undefined || at < last.window.start || at >= last.window.end) {
    const window = dayAt(now)
    days.set(endpoint, (last = { key: `{${account.id}}:day:${id}:${window.start}:${limitedSince}`, window }))
  }
  const { key, window } = last
  const quota = { account: account.id, endpoint: id, window, every: DAY }
  return { key, limit: { perSecond: 0, burst: dailyLimit }, units, quota }
}

/** What a call is told of the part that was not to be had. */
function refusalOf({ limit, quota }: Part, wait: Taken): Refusal {
  if (wait === null) return refuse('journal_unavailable')
  if (quota === undefined) return rateLimited(wait, limit.perSecond)
  if (wait !== Infinity)
    return refuse('quota_exhausted', 'The quota cannot be checked now', {
      retryAfterMs: wait,
      resetsAt: quota.window.end,
    })
  return quota.endpoint === undefined
    ? refuse('quota_exhausted', undefined, { scope: 'account', resetsAt: quota.window.end })
    : dayExhausted(quota.window)
}
