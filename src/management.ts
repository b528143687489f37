/** Joins the `service_*` methods to the line: what they work on, from the live parts of this process. */
import type { AccountStore } from './accounts/store.ts'
import type { Management } from './pipeline/context.ts'
import { callService, isPublicService, isService } from './service/call.ts'
import type { Ledger } from './usage/ledger.ts'
import type { Meter } from './usage/meter.ts'

/** The management port of the pipeline. */
export function makeManagement(accounts: AccountStore, usage: Ledger, meter: Meter): Management {
  return {
    has: isService,
    isPublic: isPublicService,
    answer: (method, params, payer, snapshot) =>
      callService(method, params, payer, {
        snapshot,
        accounts,
        usage,
        quota: account => {
          const plan = snapshot.plans[account.plan]
          return plan === undefined ? null : meter.quota(account, plan, Date.now())
        },
        now: () => Math.floor(Date.now() / 1000),
      }),
  }
}
