import { withAccounts } from '../../support/accounts.ts'
import type { Gateway } from '../../support/gateway.ts'

/** An account with its dashboard token and its first endpoint. */
export interface Owner {
  readonly accountId: string
  readonly token: string
  readonly endpointId: string
  readonly key: string
}

/** Makes an account on a running gateway. */
export async function createOwner(gateway: Gateway, chain: string, plan = 'paid'): Promise<Owner> {
  return withAccounts(gateway, async store => {
    const { account, dashboardToken } = await store.accounts.create({ name: 'Acme', plan })
    const made = await store.endpoints.create({ accountId: account.id, network: chain, name: 'first' })
    if (typeof made === 'string') throw new Error(made)
    return { accountId: account.id, token: dashboardToken, endpointId: made.id, key: made.apiKey }
  })
}
