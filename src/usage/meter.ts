/** The meter: what an account may still use, what a call is charged, and what the ledger learns of it. */
import { BoundedCache } from '../cache/bounded-cache.ts'
import type { Plan } from '../snapshot/types.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { AccountMeter } from './account-meter.ts'
import type { Cell } from './cell.ts'
import type { Window } from './window.ts'
import type { Group } from './group.ts'
import type { Ledger } from './ledger.ts'
import { newBucket, putBack, take } from './bucket.ts'
import type { Bucket, RateLimit, RateState } from './bucket.ts'
import { rateLimited } from './public-meter.ts'
import type { QuotaState } from './types.ts'

/** The account that pays. */
export interface Account {
  readonly id: string
  /** Unix seconds. */
  readonly createdAt: number
}

/** Who is charged, on which plan. */
export interface Payer {
  readonly account: Account
  readonly endpoint: { readonly id: string; readonly network: string }
  readonly plan: Plan
  /** The endpoint's own rate, below the account's; null when it has none. */
  readonly endpointRate: RateLimit | null
}

/** A call that was let in: its charge is on the way to the disk. */
export interface Admission {
  readonly payer: Payer
  readonly cost: number
  /** Whether it took rate besides quota. */
  readonly rated: boolean
  /** The quota window as it was read when the cost was taken from it. */
  readonly reading: Window | null
  readonly cell: Cell
  readonly group: Group
}

/** What is known of a call once it is over. */
export interface Settlement {
  /** The node answered with an error. */
  readonly error: boolean
  readonly bytesOut: number
  readonly upstreamMs: number
}

/** Rate of `service_*` calls, per account (design, "Management"). */
const MANAGEMENT = { perSecond: 10, burst: 30 }

/** Accounts and endpoints whose buckets are in memory. */
const REMEMBERED = 100_000

/** Admits, gives back, settles. */
export class Meter {
  readonly #ledger: Ledger
  // Who was not heard of for long has a full bucket, and a quota that the ledger knows.
  readonly #accounts = new BoundedCache<AccountMeter>(REMEMBERED)
  readonly #endpoints = new BoundedCache<Bucket>(REMEMBERED)
  readonly #management = new BoundedCache<Bucket>(REMEMBERED)

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  /**
   * Takes rate and quota and begins the charge of one call, or takes nothing and refuses. What costs nothing takes one management
   * call instead of rate: nothing is free of any limit.
   */
  admit(payer: Payer, method: string, cost: number, now: number): Admission | Refusal {
    if (this.#ledger.failure !== null) return refuse('journal_unavailable')
    const meter = this.#meterOf(payer.account)
    const limited =
      cost === 0 ? this.admitManagement(payer.account, now) : this.#takeRates(payer, meter, cost, now)
    if (limited !== null) return limited
    const admission = this.#charge(payer, meter, method, cost, now, true)
    if (isRefusal(admission)) this.#returnRates(payer, meter, cost)
    return admission
  }

  /** The same without the rate: a delivered notification spends quota only. */
  admitUnrated(payer: Payer, method: string, cost: number, now: number): Admission | Refusal {
    if (this.#ledger.failure !== null) return refuse('journal_unavailable')
    return this.#charge(payer, this.#meterOf(payer.account), method, cost, now, false)
  }

  #charge(
    payer: Payer,
    meter: AccountMeter,
    method: string,
    cost: number,
    now: number,
    rated: boolean,
  ): Admission | Refusal {
    const reading = meter.readWindow(payer.plan, now)
    if (reading === 'unreadable') return refuse('journal_unavailable')
    if (!meter.takeQuota(payer.plan, cost))
      return refuse('quota_exhausted', undefined, { resetsAt: reading?.end })
    const cell = this.#ledger.cell(payer, method, now, reading?.start ?? 0)
    return { payer, cost, rated, reading, cell, group: this.#ledger.charge(cell, cost) }
  }

  /** Takes one management call from its own bucket. */
  admitManagement(account: Account, now: number): Refusal | null {
    let bucket = this.#management.get(account.id)
    if (bucket === undefined) this.#management.set(account.id, (bucket = newBucket(MANAGEMENT, now)))
    const wait = take(bucket, MANAGEMENT, 1, now)
    return wait === 0 ? null : rateLimited(wait, MANAGEMENT.perSecond)
  }

  /** Whether the charge is on disk; to be asked before the last byte of a reply leaves. */
  committed({ group }: Admission): boolean | Promise<boolean> {
    return group.settled()
  }

  /**
   * Undoes an admission: the call was refused after all. Resolves when that has been tried on disk too, so that a killed
   * process leaves no charge for a call whose refusal has left.
   */
  async giveBack(admission: Admission): Promise<void> {
    const { payer, cost, rated, reading, cell, group } = admission
    const meter = this.#meterOf(payer.account)
    if (rated) this.#returnRates(payer, meter, cost)
    // A window that was read anew since does not hold what never came to the disk.
    if (group.state !== 'failed' || meter.isReading(reading)) meter.returnQuota(cell.window, cost)
    // A charge whose commit failed was never recorded, so there is nothing to take back from the journal.
    if (group.state !== 'failed') await this.#ledger.giveBack(cell, 1, cost).settled()
  }

  /** Tells the ledger how a charged call went. */
  settle(admission: Admission, settlement: Settlement): void {
    const { cell } = admission
    if (settlement.error) cell.errors += 1
    cell.bytesOut += settlement.bytesOut
    cell.upstreamMs += settlement.upstreamMs
    this.#ledger.touch(cell)
  }

  /** Counts a call that was refused; it costs nothing. */
  refused(payer: Payer, method: string, reason: string, now: number): void {
    const window = this.#meterOf(payer.account).windowOf(payer.plan, now)?.start ?? 0
    const cell = this.#ledger.refusedCell(payer, method, now, window)
    cell.refusals += 1
    cell.reasons ??= new Map()
    cell.reasons.set(reason, (cell.reasons.get(reason) ?? 0) + 1)
  }

  /** What the rate headers of a reply say. */
  rate({ account, plan }: Payer, now: number): RateState | null {
    return this.#meterOf(account).rate(plan, now)
  }

  /** The account's quota window now; null on a plan without a quota. */
  quota(account: Account, plan: Plan, now: number): QuotaState | null | 'unreadable' {
    return this.#meterOf(account).quota(plan, now)
  }

  /** From the endpoint's bucket and the account's, or from neither. */
  #takeRates(
    { endpoint, plan, endpointRate }: Payer,
    meter: AccountMeter,
    cost: number,
    now: number,
  ): Refusal | null {
    if (endpointRate !== null) {
      const bucket = this.#endpoints.get(endpoint.id) ?? newBucket(endpointRate, now)
      this.#endpoints.set(endpoint.id, bucket)
      const wait = take(bucket, endpointRate, cost, now)
      if (wait > 0) return rateLimited(wait, endpointRate.perSecond)
    }
    if (plan.rate === null) return null
    const wait = meter.takeRate(plan.rate, cost, now)
    if (wait === 0) return null
    this.#returnEndpointRate(endpoint.id, endpointRate, cost)
    return rateLimited(wait, plan.rate.perSecond)
  }

  #returnRates({ account, endpoint, plan, endpointRate }: Payer, meter: AccountMeter, cost: number): void {
    if (cost === 0) {
      const bucket = this.#management.get(account.id)
      if (bucket !== undefined) putBack(bucket, MANAGEMENT, 1)
      return
    }
    this.#returnEndpointRate(endpoint.id, endpointRate, cost)
    if (plan.rate !== null) meter.returnRate(plan.rate, cost)
  }

  #returnEndpointRate(id: string, rate: RateLimit | null, cost: number): void {
    if (rate === null) return
    const bucket = this.#endpoints.get(id)
    if (bucket !== undefined) putBack(bucket, rate, cost)
  }

  #meterOf(account: Account): AccountMeter {
    let meter = this.#accounts.get(account.id)
    if (meter === undefined) {
      meter = new AccountMeter(account, (...window) => this.#ledger.usedInWindow(...window))
      this.#accounts.set(account.id, meter)
    }
    return meter
  }
}
