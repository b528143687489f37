/** The ports Accounts, Endpoints, Keys and SignIns written as plainly as they can be: in maps, every answer by a promise. */
import type { Account, Accounts } from '../../src/ports/accounts.ts'
import { ENDPOINT_LIMIT } from '../../src/ports/endpoints.ts'
import type { Endpoint, Endpoints, EndpointWithKey } from '../../src/ports/endpoints.ts'
import type { Keys, SignIns } from '../../src/ports/keys.ts'
import { mintKey, mintToken } from '../../src/stores/sqlite/accounts/secrets/keys.ts'

/** One place for all four. */
export interface PlainAccounts {
  readonly accounts: Accounts
  readonly endpoints: Endpoints
  readonly keys: Keys
  readonly signIns: SignIns
}

/** An empty one; `now` in Unix seconds. */
export function plainAccounts(now: () => number): PlainAccounts {
  const byId = new Map<string, Account>()
  const tokens = new Map<string, string>()
  const live = new Map<string, EndpointWithKey>()
  const removed = new Map<string, EndpointWithKey>()
  let changes = 0
  let serial = 0
  const fresh = (prefix: string): string => `${prefix}_${String((serial += 1))}`
  const own = (accountId: string | null, id: string): EndpointWithKey | null => {
    const found = live.get(id)
    return found === undefined || (accountId !== null && found.accountId !== accountId) ? null : found
  }
  const of = (accountId: string): EndpointWithKey[] =>
    [...live.values()].filter(each => each.accountId === accountId)
  const accounts: Accounts = {
    create: async wish => {
      const account: Account = { id: fresh('acc'), ...wish, status: 'active', createdAt: now() }
      const dashboardToken = mintToken()
      byId.set(account.id, account)
      tokens.set(account.id, dashboardToken)
      return Promise.resolve({ account, dashboardToken })
    },
    find: async id => Promise.resolve(byId.get(id) ?? null),
    list: async () => Promise.resolve([...byId.values()]),
    named: async name =>
      Promise.resolve([...byId.values()].filter(each => each.name === name).map(({ id }) => id)),
    change: async (id, change) => {
      const before = byId.get(id)
      if (before === undefined) return Promise.resolve(null)
      const after = { ...before, ...change }
      byId.set(id, after)
      changes += 1
      return after
    },
    rotateToken: async id => {
      if (!byId.has(id)) return Promise.resolve(null)
      const token = mintToken()
      tokens.set(id, token)
      return token
    },
  }
  const endpoints: Endpoints = {
    create: async ({ accountId, network, name = `${network}-endpoint-abc` }) => {
      if (!byId.has(accountId)) return Promise.resolve('no_account')
      if (of(accountId).length >= ENDPOINT_LIMIT) return 'limit_reached'
      const open = { management: true, allowedOrigins: null, allowedIps: null, perSecond: null }
      const base = { id: fresh('ep'), accountId, network, name, status: 'active', createdAt: now() } as const
      const endpoint: EndpointWithKey = { ...base, ...open, apiKey: mintKey() }
      live.set(endpoint.id, endpoint)
      return endpoint
    },
    find: async (accountId, id) => Promise.resolve(own(accountId, id)),
    list: async accountId => Promise.resolve(of(accountId)),
    count: async accountId => Promise.resolve(of(accountId).length),
    label: async id => {
      const found = live.get(id) ?? removed.get(id)
      if (found === undefined) return Promise.resolve(null)
      const { accountId, network, name } = found
      return { accountId, network, name, deleted: removed.has(id) }
    },
    change: async (accountId, id, change) => {
      const before = own(accountId, id)
      if (before === null) return Promise.resolve(null)
      const closing = (change.allowedOrigins ?? null) === null ? {} : { management: false }
      const after = { ...before, ...closing, ...change }
      live.set(id, after)
      changes += 1
      return after
    },
    remove: async (accountId, id) => {
      const found = own(accountId, id)
      if (found === null) return Promise.resolve(null)
      live.delete(id)
      removed.set(id, found)
      changes += 1
      return withoutKey(found)
    },
    move: async (from, to, accountId) => {
      const moving = [...live.values()].filter(
        each => each.network === from && (accountId === null || each.accountId === accountId),
      )
      for (const each of moving) live.set(each.id, { ...each, network: to })
      changes += 1
      return Promise.resolve(moving.length)
    },
  }
  const keys: Keys = {
    find: key => {
      const found = [...live.values()].find(({ apiKey }) => apiKey === key)
      if (found === undefined) return null
      return { account: byId.get(found.accountId)!, endpoint: withoutKey(found) }
    },
    get changes() {
      return changes
    },
  }
  const signIns: SignIns = {
    open: secret => {
      const endpoint = keys.find(secret)?.endpoint ?? null
      const accountId = endpoint?.accountId ?? [...tokens].find(([, token]) => token === secret)?.[0]
      if (accountId === undefined) return null
      return { accountId, tokenHash: tokens.get(accountId)!, endpointId: endpoint?.id ?? null }
    },
    owner: ({ accountId, tokenHash, endpointId }) => {
      if (tokens.get(accountId) !== tokenHash) return null
      const account = byId.get(accountId)!
      if (endpointId === null) return { account, endpoint: null }
      const found = own(accountId, endpointId)
      if (found === null) return null
      return { account, endpoint: withoutKey(found) }
    },
  }
  return { accounts, endpoints, keys, signIns }
}

/** What others than its owner see of an endpoint. */
export function withoutKey(endpoint: EndpointWithKey): Endpoint {
  const { apiKey, ...rest } = endpoint
  if (apiKey === '') throw new Error('an endpoint has a key')
  return rest
}
