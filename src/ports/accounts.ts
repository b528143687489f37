/** Accounts: who owns endpoints and is billed. All times are Unix seconds. */
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

/** What the operator may change of an account; an absent member stays as it is. */
export interface AccountChange {
  readonly plan?: string
  readonly status?: AccountStatus
}

/** A new account and the only sight of its dashboard token. */
export interface NewAccount {
  readonly account: Account
  readonly dashboardToken: string
}

/** Keeps accounts. A change has been written when its promise resolves; several processes may write at once. */
export interface Accounts {
  create(wish: { readonly name: string; readonly plan: string }): Promise<NewAccount>
  find(id: string): MaybePromise<Account | null>
  /** In the order of creation. */
  list(): MaybePromise<Account[]>
  /** Ids of the accounts of that name, in the order of creation. */
  named(name: string): MaybePromise<string[]>
  /** The account as it is then; null when there is none. */
  change(id: string, change: AccountChange): Promise<Account | null>
  /** The new dashboard token, the old one being void; null when there is no such account. */
  rotateToken(id: string): Promise<string | null>
}
