/** Limits and journal as a call uses them, in one object. */
import { LocalBuckets } from '../../src/limits/buckets.ts'
import { CallLimits } from '../../src/limits/limits.ts'
import type { Settlement } from '../../src/ports/journal.ts'
import type { Account, Grant, Payer, QuotaState, RateState } from '../../src/ports/limits.ts'
import { isRefusal, refuse } from '../../src/refusal/refusal.ts'
import type { Refusal } from '../../src/refusal/refusal.ts'
import type { Plan } from '../../src/snapshot/types.ts'
import type { UsageCounter } from '../../src/stores/sqlite/usage/counters.ts'
import type { CommitBatch } from '../../src/stores/sqlite/usage/commit-batch.ts'
import type { Ledger } from '../../src/stores/sqlite/usage/ledger.ts'
import type { Charging, CounterCharge } from '../../src/stores/sqlite/usage/charging.ts'

/** A call that was let in. */
export interface Admission {
  readonly payer: Payer
  readonly cost: number
  readonly grant: Grant
  readonly charge: CounterCharge
  readonly counter: UsageCounter
  readonly batch: CommitBatch
}

/** Takes and charges, gives back, settles. */
export class Meter {
  readonly limits: CallLimits
  readonly #clock = { at: 0, monotonic: () => this.#clock.at }
  readonly journal: Charging

  constructor(ledger: Ledger) {
    const buckets = new LocalBuckets(this.#clock, (...asked) => ledger.usedInWindow(...asked))
    this.limits = new CallLimits(buckets, null)
    this.journal = ledger.charging
  }

  admit(payer: Payer, method: string, cost: number, now: number, isRated = true): Admission | Refusal {
    if (this.journal.failure !== null) return refuse('journal_unavailable')
    const spender = { payer, plan: payer.plan, address: '192.0.2.1' }
    this.#clock.at = now
    const grant = this.limits.take(spender, { units: cost, isRated }, now) as Grant | Refusal
    if (isRefusal(grant)) return grant
    const charge = this.journal.charge(payer, method, cost, grant.period, now)
    return { payer, cost, grant, charge, counter: charge.counter, batch: charge.batch }
  }

  admitUnrated(payer: Payer, method: string, cost: number, now: number): Admission | Refusal {
    return this.admit(payer, method, cost, now, false)
  }

  committed({ charge }: Admission): boolean | Promise<boolean> {
    return charge.commit()
  }

  async giveBack({ grant, charge }: Admission): Promise<void> {
    grant.giveBack()
    await charge.giveBack()
  }

  settle({ charge }: Admission, settlement: Settlement): void {
    charge.settle(settlement)
  }

  refused(payer: Payer, method: string, reason: string, now: number): void {
    this.journal.refused(payer, method, reason, now)
  }

  rate(payer: Payer, now: number): RateState | null {
    this.#clock.at = now
    return this.limits.rate({ payer, plan: payer.plan, address: '192.0.2.1' }, now)
  }

  quota(account: Account, plan: Plan, now: number): QuotaState | null | 'unreadable' {
    this.#clock.at = now
    return this.limits.quota(account, plan, now) as QuotaState | null | 'unreadable'
  }
}
