import { join } from 'node:path'
import { openAccounts, type AccountStore } from '../../src/stores/sqlite/accounts/store.ts'
import { Access } from './access.ts'
import type { Gateway } from './gateway.ts'

/** Does to the accounts of a gateway what the command line does, from this process: in no time. */
export async function withAccounts<T>(
  gateway: Gateway,
  work: (store: AccountStore) => Promise<T>,
  env: Readonly<Record<string, string>> = {},
): Promise<T> {
  const accounts = await openAccounts({ dataDir: join(gateway.dir, 'data'), env })
  try {
    return await work(accounts)
  } finally {
    accounts.close()
  }
}

/** Creates an account and gives the way in through its first endpoint. */
export async function createAccess(
  gateway: Gateway,
  plan: string,
  chain: string,
  env: Readonly<Record<string, string>> = {},
): Promise<Access> {
  const create = async (store: AccountStore): Promise<Access> => {
    const { account } = await store.accounts.create({ name: `test-${plan}`, plan })
    const endpoint = await store.endpoints.create({ accountId: account.id, network: chain })
    if (typeof endpoint === 'string') throw new Error(`no endpoint on ${chain}: ${endpoint}`)
    return new Access(gateway, chain, endpoint.apiKey, endpoint.id, account.id)
  }
  return withAccounts(gateway, create, env)
}
