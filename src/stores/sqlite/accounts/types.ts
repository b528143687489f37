/** Accounts and endpoints as the rest of the gateway sees them. All times are Unix seconds. */

export type AccountStatus = 'active' | 'suspended'
export type EndpointStatus = 'active' | 'inactive'

/** Who owns endpoints and is billed. */
export interface Account {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly status: AccountStatus
  readonly createdAt: number
}

/** An access point with its key, bound to one network (spec, "Endpoint"). */
export interface Endpoint {
  readonly id: string
  readonly accountId: string
  /** Network slug. */
  readonly network: string
  readonly name: string
  readonly status: EndpointStatus
  readonly createdAt: number
  /** Whether `service_*` calls are accepted with this key. */
  readonly management: boolean
  /** Origins a browser may call from; null is any, an absent Origin included. */
  readonly allowedOrigins: readonly string[] | null
  /** Addresses or CIDRs a call may come from; null is any. */
  readonly allowedIps: readonly string[] | null
  /** Requests per second for this endpoint alone, below the account's rate; null is the account's. */
  readonly perSecond: number | null
}

/** What a key stands for. */
export interface KeyOwner {
  readonly account: Account
  readonly endpoint: Endpoint
}

/** An endpoint together with its key in clear: only for its owner's eyes. */
export interface EndpointWithKey extends Endpoint {
  readonly apiKey: string
}

/** What an owner may change of an endpoint; an absent member stays as it is. */
export interface EndpointChange {
  readonly name?: string
  readonly status?: EndpointStatus
  readonly management?: boolean
  readonly allowedOrigins?: readonly string[] | null
  readonly allowedIps?: readonly string[] | null
  readonly perSecond?: number | null
}
