/** Joins the `service_*` methods to the line: what they work on, from the live parts of this process. */
import { STALE } from '../ports/accounts.ts'
import type { Alerts } from '../ports/alerts.ts'
import type { Audit } from '../ports/audit.ts'
import type { Endpoints } from '../ports/endpoints.ts'
import type { Management } from '../call/context.ts'
import { callService, isPublicService } from '../management/call.ts'
import { serviceMethods } from '../management/methods.ts'
import type { Health } from '../management/types.ts'
import type { Heads } from '../routes/heads.ts'
import type { Upstreams } from '../routes/upstreams.ts'
import type { Limits } from '../ports/limits.ts'
import type { Ledger } from '../ports/ledger.ts'

/** The live parts that management works on. */
export interface ManagementParts {
  readonly endpoints: Endpoints
  readonly alerts: Alerts
  readonly audit: Audit
  /** How old what is known of accounts is, in milliseconds. */
  readonly age: () => number
  readonly usage: Ledger
  readonly limits: Pick<Limits, 'quota'>
  readonly upstreams: Upstreams
  readonly heads: Heads
}

/** The management port of the pipeline. */
export function makeManagement(parts: ManagementParts): Management {
  const { endpoints, alerts, audit, age, usage, limits, upstreams, heads } = parts
  const health: Health = {
    head: slug => heads.best(slug),
    isHealthy: (network, routeId) => upstreams.whyUnhealthy(network, routeId, performance.now()) === null,
  }
  return {
    methods: serviceMethods,
    isPublic: isPublicService,
    answer: (method, params, payer, snapshot) =>
      callService(method, params, payer, {
        snapshot,
        endpoints,
        alerts,
        audit,
        usage,
        health,
        quota: account => {
          const plan = snapshot.plans[account.plan]
          return plan === undefined ? null : limits.quota(account, plan, Date.now())
        },
        isStale: () => age() > STALE,
        now: () => Math.floor(Date.now() / 1000),
      }),
  }
}
