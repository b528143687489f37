/** `tollgate endpoint …`: the access points of an account. */
import type { AccountStore } from '../../stores/sqlite/accounts/store.ts'
import type { Account } from '../../ports/accounts.ts'
import type { Served } from '../../http/admin/served.ts'
import { createEndpoint, deleteEndpoint, listEndpoints, updateEndpoint } from '../../management/endpoints.ts'
import { findNetwork } from '../../management/urls.ts'
import { noAccount, withAccounts } from './accounts.ts'
import { CHANGED, fail, print, readArguments, UsageError } from '../command.ts'
import { typed } from '../output/called-as.ts'
import type { Command, Io } from '../command.ts'
import type { DataDirOptions } from '../data-dir.ts'
import { label } from './endpoint-label.ts'
import { limit } from './endpoint-limit.ts'
import { move } from './endpoint-move.ts'
import { rotate } from './endpoint-rotate.ts'
import { readRestrictions, RESTRICTIONS, RESTRICTIONS_HELP } from './endpoint-restrictions.ts'
import { urlLines } from './endpoint-urls.ts'
import { readLabels } from './label-options.ts'
import { group } from '../group.ts'
import type { Known } from '../known.ts'
import { manage } from './manage.ts'
import type { Managed, Method } from './manage.ts'
import { openReaderOf } from '../usage/reader.ts'
import { table } from '../output/table.ts'

interface Listed {
  readonly endpointId: string
  readonly name: string
  readonly chain: string
  readonly status: string
  readonly apiKey: string
  readonly httpsUrl: string
  readonly requestCount: number
}

const LIST = { account: 'string' } as const
const CREATE = {
  account: 'string',
  chain: 'string',
  name: 'string',
  label: 'strings',
  ...RESTRICTIONS,
} as const

const list: Command = {
  summary: 'list the endpoints of an account, keys included',
  options: LIST,
  usage:
    'tollgate endpoint list --account ID [--config DIR] [--json]\n  lists the endpoints of an account, keys included',

  run(args, io) {
    const { config, json, given } = readArguments(args, [], LIST)
    const show: ForAccount = async (account, store, known) => {
      const served = await known.servedIfKnown()
      const { dataDir } = known.gateway
      const usage = await openReaderOf(known, io, { accountId: account.id, rows: null, windows: null })
      const managed = await manage(listEndpoints, null, account, { store, dataDir, served, usage })
      return told(managed, io, json, result => {
        const { endpoints } = result as { endpoints: Listed[] }
        return table(
          ['ENDPOINT', 'NAME', 'CHAIN', 'STATUS', 'REQUEST UNITS', 'URL'],
          endpoints.map(each => [
            each.endpointId,
            each.name,
            each.chain,
            statusOf(each, served),
            each.requestCount,
            each.httpsUrl,
          ]),
        )
      })
    }
    return forAccount({ config, json }, io, given['account'], show, { reads: true })
  },
}

const create: Command = {
  summary: 'make an endpoint with its key',
  options: CREATE,
  usage: `tollgate endpoint create --account ID --chain SLUG [--name NAME] [--label N=VALUE …] [--per-second N] [--daily N]
                         [--ip RANGE …] [--origin URL …] [--expires TIME] [--no-management] [--config DIR] [--json]

Makes an endpoint with its key, on a network, and says what the key may be used for:

  --name NAME      how its owner tells it from others; default: a name is made
  --label N=VALUE  a label of yours; several times for several
${RESTRICTIONS_HELP}`,

  run(args, io) {
    const { config, json, given, lists } = readArguments(args, [], CREATE)
    const { account: id, chain, name } = given
    if (typeof chain !== 'string') throw new UsageError('--chain is missing')
    const labels = Object.fromEntries(readLabels('label', lists['label'] ?? []))
    const restrictions = readRestrictions(given, lists, Math.floor(Date.now() / 1000))
    const params = { chain, ...(name === undefined ? {} : { name }), ...restrictions, labels }
    return forAccount({ config, json }, io, id, async (account, store, known) => {
      const served = await known.served()
      if (findNetwork(served.networks, chain) === undefined)
        return fail(io, json, await known.whyNot('network', chain, Object.keys(served.networks)))
      const { dataDir } = known.gateway
      const managed = await manage(createEndpoint, params, account, { store, dataDir, served })
      const list = typed(io, ['endpoint', 'list', '--account', account.id], config)
      const done = (result: unknown): string =>
        `the endpoint ${(result as Listed).endpointId} was made: "${list}" shows it`
      return told(managed, io, json, lines, done)
    })
  },
}

function change(
  verb: string,
  summary: string,
  method: Method,
  changes: Readonly<Record<string, string>>,
): Command {
  return {
    usage: `tollgate endpoint ${verb} <id> [--config DIR] [--json]\n  ${summary}`,
    summary,
    run(args, io) {
      const { config, json, words } = readArguments(args, ['id'])
      const endpointId = words[0]!
      return withAccounts({ config, json }, io, async (store, known) => {
        const endpoint = await store.endpoints.find(null, endpointId)
        const owner = endpoint === null ? null : await store.accounts.find(endpoint.accountId)
        if (owner === null) return fail(io, json, `there is no endpoint "${endpointId}"`)
        const served = await known.servedIfKnown()
        const { dataDir } = known.gateway
        const params = { endpointId, ...changes }
        const managed = await manage(method, params, owner, { store, dataDir, served })
        return told(
          managed,
          io,
          json,
          () => [`${endpointId}: ${verb}d`],
          () => CHANGED,
        )
      })
    },
  }
}

type ForAccount = (account: Account, store: AccountStore, known: Known) => Promise<number>

function forAccount(
  args: { readonly config: string; readonly json: boolean },
  io: Io,
  id: string | boolean | undefined,
  work: ForAccount,
  options: DataDirOptions = {},
): Promise<number> {
  if (typeof id !== 'string') throw new UsageError('--account is missing')
  const find = async (store: AccountStore, known: Known): Promise<number> => {
    const account = await store.accounts.find(id)
    if (account === null) return fail(io, args.json, await noAccount(store, id))
    return work(account, store, known)
  }
  return withAccounts(args, io, find, options)
}

/** The status for a person: an endpoint whose network is gone serves nobody. */
function statusOf({ chain, status }: Listed, served: Served | null): string {
  if (served === null || findNetwork(served.networks, chain) !== undefined) return status
  return status === 'active' ? 'network removed' : `${status}, network removed`
}

function told(
  managed: Managed,
  io: Io,
  json: boolean,
  show: (result: unknown) => string[],
  done?: (result: unknown) => string,
): number {
  if ('error' in managed) return fail(io, json, managed.error)
  print(io, json, managed.result, () => show(managed.result), done?.(managed.result))
  return 0
}

function lines(result: unknown): string[] {
  const { endpointId, name, chain, httpsUrl, wssUrl } = result as Record<
    'endpointId' | 'name' | 'chain' | 'httpsUrl' | 'wssUrl',
    string
  >
  return [`endpoint  ${endpointId} (${name})`, ...urlLines({ chain, httpsUrl, wssUrl }, 10)]
}

export const endpoint = group('endpoint', {
  list,
  create,
  activate: change('activate', 'let an endpoint be called', updateEndpoint, { status: 'active' }),
  deactivate: change('deactivate', 'refuse calls to an endpoint', updateEndpoint, {
    status: 'inactive',
  }),
  delete: change('delete', 'delete an endpoint; its key is revoked, its usage stays', deleteEndpoint, {}),
  label,
  limit,
  rotate,
  move,
})
