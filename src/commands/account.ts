/** `tollgate account …`: who owns endpoints and is billed. */
import type { AccountStore } from '../accounts/store.ts'
import type { Account } from '../accounts/types.ts'
import { suggester } from '../config/suggest.ts'
import type { Snapshot } from '../snapshot/types.ts'
import { withAccounts } from './accounts.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command, Io } from './command.ts'
import { group } from './group.ts'
import { manage } from './manage.ts'
import { moment, table } from './table.ts'

const CREATE = { plan: 'string', chain: 'string', init: 'boolean' } as const

const create: Command = {
  summary: 'make an account with its first endpoint and key',
  options: CREATE,
  usage: `tollgate account create <name> --plan P [--chain SLUG] [--init] [--config DIR] [--json]

Prints the account, its dashboard token (shown only now) and its first endpoint with its key, which the last line puts
into a variable of your shell. --chain takes the network of that endpoint; default: the first one of networks.yaml. --init makes the data directory and the file of
the master key where there are none yet, as serve does.`,

  async run(args, io) {
    const { config, json, words, given } = readArguments(args, ['name'], CREATE)
    const { plan } = given
    if (typeof plan !== 'string') throw new UsageError('--plan is missing')
    if (words[0]!.trim() === '') throw new UsageError('the name is empty')
    const make = async (accounts: AccountStore, snapshot: Snapshot): Promise<number> => {
      const unknown = planFault(plan, snapshot)
      if (unknown !== null) return fail(io, json, unknown)
      const chain = given['chain'] ?? Object.keys(snapshot.networks)[0]
      if (typeof chain === 'string' && snapshot.networks[chain] === undefined)
        return fail(io, json, unknownNetwork(chain, snapshot))
      const { account, dashboardToken } = await accounts.createAccount({ name: words[0]!, plan })
      const made =
        chain === undefined
          ? null
          : await manage('service_createEndpoint', { chain }, account, { accounts, snapshot })
      if (made !== null && 'error' in made) return fail(io, json, made.error)
      const endpoint =
        made === null ? null : (made.result as { apiKey: string; httpsUrl: string; wssUrl: string })
      const result = { accountId: account.id, name: account.name, plan, dashboardToken, endpoint }
      print(io, json, result, () => [
        `account          ${account.id} (${account.name}, plan ${plan})`,
        `dashboard token  ${dashboardToken}   shown only now`,
        ...(endpoint === null
          ? []
          : [
              `HTTPS            ${endpoint.httpsUrl}`,
              ...(endpoint.wssUrl === '' ? [] : [`WSS              ${endpoint.wssUrl}`]),
              '',
              `export KEY=${endpoint.apiKey}`,
            ]),
      ])
      return 0
    }
    return withAccounts({ config, json }, io, make, { init: given['init'] === true })
  },
}

const list: Command = {
  summary: 'list the accounts',
  usage: 'tollgate account list [--config DIR] [--json]\n  lists the accounts',

  async run(args, io) {
    const { config, json } = readArguments(args, [])
    return withAccounts({ config, json }, io, accounts => {
      const all = accounts.accounts().map(shown)
      print(io, json, all, () =>
        table(
          ['ACCOUNT', 'NAME', 'PLAN', 'STATUS', 'CREATED'],
          all.map(({ accountId, name, plan, status, createdAt }) => [
            accountId,
            name,
            plan,
            status,
            moment(createdAt),
          ]),
        ),
      )
      return 0
    })
  },
}

const setPlan: Command = {
  summary: 'move an account to another plan',
  usage: 'tollgate account set-plan <id> <plan> [--config DIR] [--json]\n  moves an account to another plan',

  run(args, io) {
    const { config, json, words } = readArguments(args, ['id', 'plan'])
    const [id, plan] = words as [string, string]
    return withAccounts({ config, json }, io, async (accounts, snapshot) => {
      const unknown = planFault(plan, snapshot)
      if (unknown !== null) return fail(io, json, unknown)
      return told(await accounts.setPlan(id, plan), id, io, json)
    })
  },
}

function statusCommand(verb: 'suspend' | 'resume', status: Account['status']): Command {
  return {
    summary: `${verb} all calls of an account`,
    usage: `tollgate account ${verb} <id> [--config DIR] [--json]\n  ${verb}s all calls of an account`,
    run(args, io) {
      const { config, json, words } = readArguments(args, ['id'])
      const id = words[0]!
      return withAccounts({ config, json }, io, async accounts =>
        told(await accounts.setStatus(id, status), id, io, json),
      )
    },
  }
}

const rotateToken: Command = {
  summary: 'give an account a new dashboard token',
  usage:
    'tollgate account rotate-token <id> [--config DIR] [--json]\n  gives an account a new dashboard token; the old one is dead',

  run(args, io) {
    const { config, json, words } = readArguments(args, ['id'])
    const accountId = words[0]!
    return withAccounts({ config, json }, io, async accounts => {
      const dashboardToken = await accounts.rotateToken(accountId)
      if (dashboardToken === null) return fail(io, json, `there is no account "${accountId}"`)
      print(io, json, { accountId, dashboardToken }, () => [
        `dashboard token  ${dashboardToken}   shown only now`,
      ])
      return 0
    })
  },
}

function shown({ id, name, plan, status, createdAt }: Account) {
  return { accountId: id, name, plan, status, createdAt }
}

function told(account: Account | null, id: string, io: Io, json: boolean): number {
  if (account === null) return fail(io, json, `there is no account "${id}"`)
  print(io, json, shown(account), () => [
    `${account.id} (${account.name}): plan ${account.plan}, ${account.status}`,
  ])
  return 0
}

export const account = group('account', {
  create,
  list,
  'set-plan': setPlan,
  suspend: statusCommand('suspend', 'suspended'),
  resume: statusCommand('resume', 'active'),
  'rotate-token': rotateToken,
})

/** Why an account cannot have this plan; null when it can. */
function planFault(plan: string, { plans }: Snapshot): string | null {
  const known = Object.keys(plans).filter(name => name !== 'public')
  if (known.includes(plan)) return null
  return `there is no plan "${plan}" for accounts; ${suggester(known)(plan) ?? `there are ${known.join(', ')}`}`
}

function unknownNetwork(slug: string, { networks }: Snapshot): string {
  const known = Object.keys(networks)
  return `there is no network "${slug}"; ${suggester(known)(slug) ?? `there are ${known.slice(0, 20).join(', ')}`}`
}
