import type { KeyOwner, SignIn, SignIns } from '../../../ports/keys.ts'
import type { AccountTable } from './account-table.ts'
import type { EndpointTable } from './endpoint-table.ts'
import { hashKey } from './secrets/hash.ts'
import { isWellFormedToken } from './secrets/keys.ts'

/** What sign-ins are read from. */
export interface Secrets {
  readonly accounts: AccountTable
  readonly endpoints: EndpointTable
  readonly findByKey: (key: string) => KeyOwner | null
  /** Unix seconds. */
  readonly now: () => number
}

/** The port SignIns on accounts.db. */
export function signInsOf({ accounts, endpoints, findByKey, now }: Secrets): SignIns {
  return {
    open(secret: string): SignIn | null {
      const account = isWellFormedToken(secret) ? accounts.findByToken(hashKey(secret)) : null
      const found = account === null ? findByKey(secret) : null
      const owner = found?.isOld === true ? null : found
      const accountId = account?.id ?? owner?.account.id
      if (accountId === undefined) return null
      const tokenHash = accounts.tokenHash(accountId)
      return tokenHash === null ? null : { accountId, tokenHash, endpointId: owner?.endpoint.id ?? null }
    },
    owner({ accountId, tokenHash, endpointId }: SignIn) {
      const account = accounts.find(accountId)
      if (account === null || accounts.tokenHash(accountId) !== tokenHash) return null
      if (endpointId === null) return { account, endpoint: null }
      const endpoint = endpoints.find(endpointId)
      if (endpoint?.accountId !== accountId) return null
      const hasExpired = endpoint.expiresAt !== null && endpoint.expiresAt <= now()
      return hasExpired ? null : { account, endpoint }
    },
  }
}
