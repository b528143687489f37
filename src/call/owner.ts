/** Who looks at the dashboard: whom a session stands for, and whether that one may manage the account from there. */
import type { Grant, Holder } from '../stores/sqlite/accounts/grant.ts'
import type { Account } from '../stores/sqlite/accounts/types.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { checkAddress } from './authenticate.ts'

export type { Account, Grant }

/** Finds what a secret grants, and for whom a grant stands now. */
export interface Owners {
  /** `secret` is a dashboard token or an API key; null when it is neither. */
  grant(secret: string): Grant | null
  /** Null once the grant no longer stands. */
  holder(grant: Grant): Holder | null
}

/** The account that a grant opens now to a visitor from `address`; as for a management call with that key. */
export function admitOwner(grant: Grant, address: string, owners: Owners): Account | Refusal {
  const holder = owners.holder(grant)
  if (holder === null) return refuse('invalid_key')
  const { account, endpoint } = holder
  if (account.status !== 'active') return refuse('account_suspended')
  if (endpoint === null) return account
  if (endpoint.status !== 'active') return refuse('endpoint_inactive')
  const denied = checkAddress(endpoint, address)
  if (denied !== null) return denied
  return endpoint.management ? account : refuse('management_denied')
}

/** The grant of a secret, once it is clear that it opens the account from `address`. */
export function signIn(secret: string, address: string, owners: Owners): Grant | Refusal {
  const grant = owners.grant(secret)
  if (grant === null) return refuse('invalid_key', 'This is no dashboard token and no API key')
  const account = admitOwner(grant, address, owners)
  return isRefusal(account) ? account : grant
}
