import type { Account } from '../ports/accounts.ts'
import type { Alerts } from '../ports/alerts.ts'
import type { Audit, Author } from '../ports/audit.ts'
import type { Endpoint, Endpoints } from '../ports/endpoints.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Network, Plan, Snapshot } from '../snapshot/types.ts'
import type { Ledger } from '../ports/ledger.ts'
import type { QuotaState } from '../ports/limits.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import type { Addressed } from './urls.ts'

/** The account that makes a call, and the endpoint whose key it used (none with a dashboard token, nor for the operator). */
export interface AccountCaller {
  readonly account: Account
  readonly endpoint?: Endpoint | null
  /** Who acts for the account; absent where its owner does. */
  readonly by?: Author
}

/** Who makes a call; null on the public route. */
export type ServiceCaller = AccountCaller | null

/** What is known of networks while the gateway runs. */
export interface Health {
  /** Best head of the network's healthy routes; null until one has told it. */
  head(slug: string): number | null
  /** Whether calls may go to the route now. */
  isHealthy(network: Network, routeId: string): boolean
}

/** What the methods about endpoints work on. */
export interface EndpointDeps {
  readonly snapshot: {
    readonly networks: Readonly<Record<string, Addressed>>
    readonly plans: Readonly<Record<string, Pick<Plan, 'managementKeys'>>>
  }
  readonly endpoints: Omit<Endpoints, 'move'>
  readonly usage: Pick<Ledger, 'totals'>
}

/** What management works on. */
export interface ServiceDeps extends EndpointDeps {
  readonly snapshot: Snapshot
  readonly usage: Ledger
  readonly health: Health
  readonly alerts: Pick<Alerts, 'webhook' | 'setWebhook'>
  readonly audit: Pick<Audit, 'read'>
  /** The account's quota window now; null when its plan has no quota, `unreadable` when journal.db cannot be read now. */
  quota(account: Account): MaybePromise<QuotaState | null | 'unreadable'>
  /** Whether another machine may have changed what is shown, and not be heard now. */
  isStale(): boolean
  /** Unix seconds. */
  now(): number
}

/** A JSON-RPC error of a management method (spec, "Errors"); `data.reason` is stable. */
export interface ServiceError {
  readonly code: number
  readonly message: string
  readonly data: Readonly<Record<string, unknown>> & { readonly reason: string }
}

/** What a management method answers: a value, or the raw JSON of one that another thread has encoded. */
export type ServiceReply =
  { readonly result: unknown } | { readonly json: string } | { readonly error: ServiceError }

/** The answer; a refusal of a call that this key may not make; or null when the caller has no such method. */
export type ServiceOutcome = ServiceReply | Refusal | null
