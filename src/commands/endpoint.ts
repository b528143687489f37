/** `tollgate endpoint …`: the access points of an account. */
import type { Account } from '../accounts/types.ts'
import { withAccounts } from './accounts.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command, Io } from './command.ts'
import { move } from './endpoint-move.ts'
import { group } from './group.ts'
import { manage } from './manage.ts'
import type { Managed } from './manage.ts'
import { table } from './table.ts'

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
const CREATE = { account: 'string', chain: 'string', name: 'string' } as const

const list: Command = {
  summary: 'list the endpoints of an account, keys included',
  options: LIST,
  usage:
    'tollgate endpoint list --account ID [--config DIR] [--json]\n  lists the endpoints of an account, keys included',

  run(args, io) {
    const { config, json, given } = readArguments(args, [], LIST)
    return forAccount(config, io, json, given['account'], async call => {
      const managed = await call('service_listEndpoints', null)
      return told(managed, io, json, result => {
        const { endpoints } = result as { endpoints: Listed[] }
        return table(
          ['ENDPOINT', 'NAME', 'CHAIN', 'STATUS', 'REQUESTS', 'URL'],
          endpoints.map(each => [
            each.endpointId,
            each.name,
            each.chain,
            each.status,
            each.requestCount,
            each.httpsUrl,
          ]),
        )
      })
    })
  },
}

const create: Command = {
  summary: 'make an endpoint with its key',
  options: CREATE,
  usage:
    'tollgate endpoint create --account ID --chain SLUG [--name NAME] [--config DIR] [--json]\n  makes an endpoint with its key',

  run(args, io) {
    const { config, json, given } = readArguments(args, [], CREATE)
    const { chain, name } = given
    if (typeof chain !== 'string') throw new UsageError('--chain is missing')
    const params = typeof name === 'string' ? { chain, name } : { chain }
    return forAccount(config, io, json, given['account'], async call =>
      told(await call('service_createEndpoint', params), io, json, lines),
    )
  },
}

function change(
  verb: string,
  summary: string,
  method: string,
  changes: Readonly<Record<string, string>>,
): Command {
  return {
    usage: `tollgate endpoint ${verb} <id> [--config DIR] [--json]\n  ${summary}`,
    summary,
    run(args, io) {
      const { config, json, words } = readArguments(args, ['id'])
      const endpointId = words[0]!
      return withAccounts({ config, json }, io, async (accounts, snapshot) => {
        const owner = accounts.account(accounts.endpoint(endpointId)?.accountId ?? '')
        if (owner === null) return fail(io, json, `there is no endpoint "${endpointId}"`)
        const managed = await manage(method, { endpointId, ...changes }, owner, { accounts, snapshot })
        return told(managed, io, json, () => [`${endpointId}: ${verb}d`])
      })
    },
  }
}

type Call = (method: string, params: Readonly<Record<string, unknown>> | null) => Promise<Managed>

function forAccount(
  config: string,
  io: Io,
  json: boolean,
  id: string | boolean | undefined,
  work: (call: Call, account: Account) => Promise<number>,
): Promise<number> {
  if (typeof id !== 'string') throw new UsageError('--account is missing')
  return withAccounts({ config, json }, io, (accounts, snapshot) => {
    const account = accounts.account(id)
    if (account === null) return fail(io, json, `there is no account "${id}"`)
    return work((method, params) => manage(method, params, account, { accounts, snapshot }), account)
  })
}

function told(managed: Managed, io: Io, json: boolean, show: (result: unknown) => string[]): number {
  if ('error' in managed) return fail(io, json, managed.error)
  print(io, json, managed.result, () => show(managed.result))
  return 0
}

function lines(result: unknown): string[] {
  const { endpointId, name, httpsUrl, wssUrl } = result as Record<
    'endpointId' | 'name' | 'httpsUrl' | 'wssUrl',
    string
  >
  const wss = wssUrl === '' ? [] : [`WSS       ${wssUrl}`]
  return [`endpoint  ${endpointId} (${name})`, `HTTPS     ${httpsUrl}`, ...wss]
}

export const endpoint = group('endpoint', {
  list,
  create,
  activate: change('activate', 'let an endpoint be called', 'service_updateEndpoint', { status: 'active' }),
  deactivate: change('deactivate', 'refuse calls to an endpoint', 'service_updateEndpoint', {
    status: 'inactive',
  }),
  delete: change(
    'delete',
    'delete an endpoint; its key is dead, its usage stays',
    'service_deleteEndpoint',
    {},
  ),
  move,
})
