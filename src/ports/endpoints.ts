/** Endpoints: access points with a key each. All times are Unix seconds. */
import type { Author } from './audit.ts'
import type { LabelChange, Labels } from './labels.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** Most endpoints that one account may have, inactive ones included, deleted ones not (spec, "Limits"). */
export const ENDPOINT_LIMIT = 100

export type EndpointStatus = 'active' | 'inactive'

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
  /** Request units per second for this endpoint alone, below the account's rate; null is the account's. */
  readonly perSecond: number | null
  /** Request units that it may use in a calendar day (UTC), within the account's quota; null is no limit of its own. */
  readonly dailyLimit: number | null
  /** When it last got a daily limit that had none; 0 where it never did. What it has used without one is in the ledger alone. */
  readonly limitedSince: number
  /** When its key ends by itself; null is never. */
  readonly expiresAt: number | null
}

/** An endpoint together with its key in clear: only for its owner's eyes. */
export interface EndpointWithKey extends Endpoint {
  readonly apiKey: string
  /** The hour in which one of its keys was last used; null when none was. */
  readonly lastUsedAt: number | null
  /** The owner's labels, by name. */
  readonly labels: Labels
}

/** Seconds for which an old key goes on at most, and usually. */
export const OVERLAP = { most: 30 * 86_400, usual: 3_600 } as const

/** Old keys that an endpoint has at most; of more the oldest ends. */
export const OLD_KEYS = 5

/** An endpoint with its new key. */
export interface RotatedKey {
  readonly endpoint: EndpointWithKey
  /** When the key before it ends; null when it has. */
  readonly oldKeyExpiresAt: number | null
}

/** What is needed for a new endpoint; without a name it is given one, and what is absent restricts nothing. */
export interface EndpointWish extends Omit<EndpointChange, 'labels'> {
  readonly accountId: string
  readonly network: string
  readonly labels?: Labels
}

/** Why there is no new endpoint. `other_request`: the request was another one the first time. */
export type EndpointFault = 'limit_reached' | 'no_account' | 'other_request'

/** What an owner may change of an endpoint; an absent member stays as it is. */
export interface EndpointChange {
  readonly name?: string
  readonly status?: EndpointStatus
  readonly management?: boolean
  readonly allowedOrigins?: readonly string[] | null
  readonly allowedIps?: readonly string[] | null
  readonly perSecond?: number | null
  readonly dailyLimit?: number | null
  readonly expiresAt?: number | null
  readonly labels?: LabelChange
}

/** Whose an endpoint is or, once deleted, was. */
export interface EndpointLabel {
  readonly accountId: string
  readonly network: string
  readonly name: string
  readonly deleted: boolean
}

/**
 * Keeps endpoints and their keys. A change has been written when its promise resolves; several processes may write at once. Where an account
 * is asked for, null is the operator, who may see and change all. `by` is who makes a change, the operator on this machine unless it says otherwise.
 */
export interface Endpoints {
  /** A new endpoint with its key. The limit holds however many processes create at once. */
  create(wish: EndpointWish, by?: Author): Promise<EndpointWithKey | EndpointFault>
  /** One endpoint; null when the account has none of that id. */
  find(accountId: string | null, endpointId: string): MaybePromise<EndpointWithKey | null>
  /** The account's, in the order of creation. */
  list(accountId: string): MaybePromise<EndpointWithKey[]>
  /** How many count towards the account's limit. */
  count(accountId: string): MaybePromise<number>
  /** Whose an endpoint is; deleted ones too, so that their usage can still be named. */
  label(endpointId: string): MaybePromise<EndpointLabel | null>
  /**
   * The endpoint as it is then; null when the account has none of that id, `too_many_labels` when it would have more than may be. A list of origins means
   * that the key lives in browsers, so management goes unless the change says that it stays. `permits` decides by the
   * stored endpoint, in the transaction of the change; `denied` if it returns false.
   */
  change(
    accountId: string | null,
    endpointId: string,
    change: EndpointChange,
    by?: Author,
    permits?: (stored: Endpoint) => boolean,
  ): Promise<EndpointWithKey | null | 'too_many_labels' | 'denied'>
  /**
   * Gives the endpoint a new key; the old one goes on for `overlap` seconds. Name, restrictions, usage and the place among the account's endpoints stay.
   * Null when the account has none of that id.
   */
  rotateKey(
    accountId: string | null,
    endpointId: string,
    overlap: number,
    by?: Author,
  ): Promise<RotatedKey | null | 'other_request'>
  /** What was removed; null when the account has none of that id. */
  remove(accountId: string | null, endpointId: string, by?: Author): Promise<Endpoint | null>
  /** Puts the endpoints of a network (`accountId` null: of all accounts) on another, under the same keys; how many they were. */
  move(from: string, to: string, accountId: string | null, by?: Author): Promise<number>
}
