/** Who looks at the dashboard: whom a session stands for, and whether that one may manage the account from there. */
import type { Account } from '../ports/accounts.ts'
import type { Endpoint } from '../ports/endpoints.ts'
import type { SignIn, SignIns } from '../ports/keys.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { checkAddress } from './caller.ts'

/** An account that is signed in, and the endpoint whose key was used; null for the dashboard token. */
export interface Owner {
  readonly account: Account
  readonly endpoint: Endpoint | null
}

/** The account that a sign-in opens now to a visitor from `address`; as for a management call with that key. */
export function admitOwner(
  from: SignIn,
  address: string,
  signIns: SignIns,
  { plans }: Pick<Snapshot, 'plans'>,
): Owner | Refusal {
  const owner = signIns.owner(from)
  if (owner === null) return refuse('invalid_key')
  const { account, endpoint } = owner
  if (account.status !== 'active') return refuse('account_suspended')
  if (endpoint === null) return owner
  if (endpoint.status !== 'active') return refuse('endpoint_inactive')
  const denied = checkAddress(endpoint, address)
  if (denied !== null) return denied
  // The dashboard is not one of the pages that its owner lets use it.
  if (endpoint.allowedOrigins !== null)
    return refuse('origin_denied', 'A key that is limited to web pages does not open the dashboard')
  const mayManage = endpoint.management && plans[account.plan]?.managementKeys !== 'none'
  return mayManage ? owner : refuse('management_denied')
}

/** A sign-in, and the account that it opens. */
export interface SignedIn {
  readonly grant: SignIn
  readonly account: Account
}

/** The sign-in with a secret, once it is clear that it opens the account from `address`. */
export function signIn(
  secret: string,
  address: string,
  signIns: SignIns,
  snapshot: Pick<Snapshot, 'plans'>,
): SignedIn | Refusal {
  const opened = signIns.open(secret)
  if (opened === null) return refuse('invalid_key', 'This is not a dashboard token or an API key')
  const owner = admitOwner(opened, address, signIns, snapshot)
  return isRefusal(owner) ? owner : { grant: opened, account: owner.account }
}
