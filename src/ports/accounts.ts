/** Accounts: who owns endpoints and is billed. All times are Unix seconds. */
import type { Author } from './audit.ts'
import type { LabelChange, Labels } from './labels.ts'
import type { MaybePromise } from './maybe-promise.ts'

export type AccountStatus = 'active' | 'suspended'

/** Who owns endpoints and is billed. */
export interface Account {
  readonly id: string
  readonly name: string
  readonly plan: string
  readonly status: AccountStatus
  readonly createdAt: number
}

/** What the operator notes about an account, for systems of their own. */
export interface AccountNotes {
  /** Its id in the operator's own system; no two accounts have the same. */
  readonly externalId: string | null
  readonly email: string | null
  readonly labels: Labels
}

/** An account with everything that is kept of it. */
export interface AccountRecord extends Account, AccountNotes {}

/** What is needed for a new account. */
export interface AccountWish extends Partial<AccountNotes> {
  readonly name: string
  readonly plan: string
}

/** What the operator may change of an account; an absent member stays as it is. */
export interface AccountChange extends Partial<Omit<AccountNotes, 'labels'>> {
  readonly labels?: LabelChange
  readonly name?: string
  readonly plan?: string
  readonly status?: AccountStatus
}

/** A new account and the only sight of its dashboard token. */
export interface NewAccount {
  readonly account: AccountRecord
  readonly dashboardToken: string
}

/** Milliseconds after which what this machine knows of accounts is called stale, where another one may have changed them. */
export const STALE = 5_000

/** Why a change is refused: another account has its external id, or it would have more labels than may be. */
export type ChangeFault = 'external_id_taken' | 'too_many_labels'

/** Why an account cannot be: another one has its external id, or the request was another one the first time. */
export type AccountFault = 'external_id_taken' | 'other_request'

/** Which accounts to list, at most `limit` after the account `after`; null is any. */
export interface AccountQuery {
  readonly after: string | null
  readonly limit: number
  readonly plan: string | null
  readonly status: AccountStatus | null
  readonly externalId: string | null
  readonly email: string | null
  /** `[name, value]` of a label that it has. */
  readonly label: readonly [string, string] | null
}

/**
 * Keeps accounts. A change has been written when its promise resolves, with its entry in the audit trail; several processes may write at once. `by` is
 * who makes it, the operator on this machine unless it says otherwise.
 */
export interface Accounts {
  create(wish: { readonly name: string; readonly plan: string }): Promise<NewAccount>
  create(wish: AccountWish, by: Author): Promise<NewAccount | AccountFault>
  find(id: string): MaybePromise<AccountRecord | null>
  /** In the order of creation. */
  list(): MaybePromise<AccountRecord[]>
  /** A part of the list. */
  page(query: AccountQuery): MaybePromise<AccountRecord[]>
  /** Ids of the accounts of that name, in the order of creation. */
  named(name: string): MaybePromise<string[]>
  /** The account as it is then; null when there is none. */
  change(id: string, change: AccountChange, by?: Author): Promise<AccountRecord | null | ChangeFault>
  /** The new dashboard token, the old one being void; null when there is no such account. */
  rotateToken(id: string, by?: Author): Promise<string | null>
  /**
   * Removes an account with its endpoints, keys and sessions, and everything that it is known by, the audit trail included. Its usage stays, under its
   * id. False when there is none.
   */
  purge(id: string, by?: Author): Promise<boolean>
}
