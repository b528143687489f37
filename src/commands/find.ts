/** `tollgate find`: whose a key or an endpoint is. */
import { isWellFormed } from '../stores/sqlite/accounts/secrets/keys.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'
import { withAccounts } from './accounts/accounts.ts'
import { fail, print, readArguments } from './command.ts'
import type { Command } from './command.ts'

export const find: Command = {
  usage: `tollgate find <key | endpoint | account | external id> [--config DIR] [--json]

Says whose an API key, an endpoint (deleted ones too) or an external id is: the account, and the endpoint with its network
and status. A key in a customer's mail is enough; it is not printed again.`,

  run(args, io) {
    const { config, json, words } = readArguments(args, ['what'])
    const what = words[0]!
    return withAccounts(
      { config, json },
      io,
      async store => {
        const found = await ownerOf(what, store)
        if (found === null) return fail(io, json, whyNot(what))
        const { account, endpoint } = found
        const lines = () => [
          `account   ${account.accountId} (${account.name}, plan ${account.plan}, ${account.status})`,
          ...(endpoint === null
            ? []
            : [
                `endpoint  ${endpoint.endpointId} (${endpoint.name}, on ${endpoint.network}, ${endpoint.status})`,
              ]),
        ]
        print(io, json, found, lines)
        return 0
      },
      { reads: true },
    )
  },
}

const ANY = { after: null, limit: 1, plan: null, status: null, email: null, label: null }

async function ownerOf(what: string, store: AccountStore) {
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

/** Why nothing was found. A key is not repeated: terminals are logged. */
function whyNot(what: string): string {
  if (isWellFormed(what))
    return 'no endpoint has this key: it was deleted or rotated, or is of another gateway'
  if (what.startsWith('tg_')) return 'this is not a whole key: its checksum does not hold'
  return `there is no account, endpoint or external id ${JSON.stringify(what)}`
}
