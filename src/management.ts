/** Joins the `service_*` methods to the line: what they work on, from the live parts of this process. */
import type { AccountStore } from './accounts/store.ts'
import type { Management } from './pipeline/context.ts'
import { callService, isPublicService, isService } from './service/call.ts'
import type { Health, ServiceDeps } from './service/types.ts'
import type { Tips } from './upstream/tips.ts'
import type { Upstreams } from './upstream/upstreams.ts'
import type { Ledger } from './usage/ledger.ts'
import type { Meter } from './usage/meter.ts'
import type { Sums } from './usage/sums/types.ts'

/** The live parts that management works on. */
export interface ManagementParts {
  readonly accounts: AccountStore
  readonly ledger: Ledger
  readonly sums: Sums
  readonly meter: Meter
  readonly upstreams: Upstreams
  readonly tips: Tips
}

/** The management port of the pipeline. */
export function makeManagement(parts: ManagementParts): Management {
  const { accounts, ledger, sums, meter, upstreams, tips } = parts
  const usage: ServiceDeps['usage'] = {
    totals: (accountId, endpointIds) => ledger.totals(accountId, endpointIds),
    sum: query => sums.sum(query),
  }
  const health: Health = {
    head: slug => tips.best(slug),
    isHealthy: (network, routeId) => upstreams.whyNot(network, routeId, performance.now()) === null,
  }
  return {
    has: isService,
    isPublic: isPublicService,
    answer: (method, params, payer, snapshot) =>
      callService(method, params, payer, {
        snapshot,
        accounts,
        usage,
        health,
        quota: account => {
          const plan = snapshot.plans[account.plan]
          return plan === undefined ? null : meter.quota(account, plan, Date.now())
        },
        now: () => Math.floor(Date.now() / 1000),
      }),
  }
}
