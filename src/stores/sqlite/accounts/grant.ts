import type { AccountStore } from './store.ts'
import type { Account, Endpoint } from './types.ts'

/** What a dashboard session was opened with. It holds no secret, and stops standing when any part of it is changed. */
export interface Grant {
  readonly accountId: string
  /** SHA-256 of the dashboard token that the account had then, in hex. */
  readonly tokenHash: string
  /** The endpoint whose key was given; null when it was the dashboard token. */
  readonly endpointId: string | null
}

/** Whom a grant stands for. */
export interface Holder {
  readonly account: Account
  readonly endpoint: Endpoint | null
}

type Source = Pick<AccountStore, 'account' | 'endpoint' | 'findByKey' | 'findByToken' | 'tokenHash'>

/** What a dashboard token or an API key grants; null when it is neither. */
export function grantOf(secret: string, accounts: Source): Grant | null {
  const account = accounts.findByToken(secret)
  const owner = account === null ? accounts.findByKey(secret) : null
  const accountId = account?.id ?? owner?.account.id
  if (accountId === undefined) return null
  const tokenHash = accounts.tokenHash(accountId)
  return tokenHash === null ? null : { accountId, tokenHash, endpointId: owner?.endpoint.id ?? null }
}

/** Whom a grant stands for now; null once its token was rotated, or its endpoint or account is gone. */
export function holderOf({ accountId, tokenHash, endpointId }: Grant, accounts: Source): Holder | null {
  const account = accounts.account(accountId)
  if (account === null || accounts.tokenHash(accountId) !== tokenHash) return null
  if (endpointId === null) return { account, endpoint: null }
  const endpoint = accounts.endpoint(endpointId)
  return endpoint?.accountId === accountId ? { account, endpoint } : null
}
