import type { Test } from 'tap'
import { openAccounts, type AccountStore } from '../../../../src/stores/sqlite/accounts/store.ts'
import type { Account } from '../../../../src/ports/accounts.ts'
import type { EndpointWithKey } from '../../../../src/ports/endpoints.ts'

/** A store in a directory of the test's own (or a given one), closed after it. */
export async function openStore(
  t: Test,
  options: { dataDir?: string; now?: () => number } = {},
): Promise<{ dataDir: string; store: AccountStore }> {
  const dataDir = options.dataDir ?? t.testdir()
  const store = await openAccounts({ ...options, dataDir, env: {} })
  t.teardown(() => store.close())
  return { dataDir, store }
}

/** A store with one account that has one endpoint. */
export async function openWithEndpoint(t: Test): Promise<{
  dataDir: string
  store: AccountStore
  account: Account
  dashboardToken: string
  endpoint: EndpointWithKey
}> {
  const { dataDir, store } = await openStore(t)
  const { account, dashboardToken } = await store.accounts.create({ name: 'Acme', plan: 'free' })
  const endpoint = await addEndpoint(store, account.id)
  return { dataDir, store, account, dashboardToken, endpoint }
}

/** One more endpoint, which must not be refused. */
export async function addEndpoint(store: AccountStore, accountId: string): Promise<EndpointWithKey> {
  const created = await store.endpoints.create({ accountId, network: 'bsc' })
  if (typeof created === 'string') throw new Error(created)
  return created
}
