/** Whose a word in a customer's mail is. */
import type { AccountRecord } from '../../ports/accounts.ts'
import type { AccountStore } from '../../stores/sqlite/accounts/store.ts'

/** An account, and the endpoint where that was named. */
export interface Owner {
  readonly account: Pick<AccountRecord, 'name' | 'plan' | 'status' | 'externalId'> & {
    readonly accountId: string
  }
  readonly endpoint: {
    readonly endpointId: string
    readonly name: string
    readonly network: string
    readonly status: string
  } | null
}

const ANY = { after: null, limit: 1, plan: null, status: null, email: null, label: null }

/** Whose a key, an endpoint (deleted ones too), an account's id or an external id is; null where it is nobody's. */
export async function ownerOf(what: string, store: AccountStore): Promise<Owner | null> {
  const endpointId = store.findByKey(what)?.endpoint.id ?? what
  const label = await store.endpoints.label(endpointId)
  const account =
    (await store.accounts.find(label?.accountId ?? what)) ??
    (await store.accounts.page({ ...ANY, externalId: what })).at(0)
  if (account === undefined) return null
  const { id, name, plan, status, externalId } = account
  const live = await store.endpoints.find(null, endpointId)
  const endpoint =
    label === null
      ? null
      : { endpointId, name: label.name, network: label.network, status: live?.status ?? 'deleted' }
  return { account: { accountId: id, name, plan, status, externalId }, endpoint }
}
