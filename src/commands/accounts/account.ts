/** `tollgate account …`: who owns endpoints and is billed. */
import { isValidName } from '../../stores/sqlite/accounts/name.ts'
import type { AccountStore } from '../../stores/sqlite/accounts/store.ts'
import type { Account, ChangeFault } from '../../ports/accounts.ts'
import type { Served } from '../../http/admin/served.ts'
import { createEndpoint } from '../../management/endpoints.ts'
import { findNetwork } from '../../management/urls.ts'
import { noAccount, withAccounts } from './accounts.ts'
import { CHANGED, fail, print, readArguments, UsageError } from '../command.ts'
import { typed } from '../output/called-as.ts'
import type { Command, Io } from '../command.ts'
import { urlLines } from './endpoint-urls.ts'
import { group } from '../group.ts'
import type { Known } from '../known.ts'
import { manage } from './manage.ts'
import { FAULTS, label, remove, rename } from './notes.ts'
import { show } from './show.ts'
import { moment, table } from '../output/table.ts'

const CREATE = { plan: 'string', chain: 'string', init: 'boolean' } as const

const create: Command = {
  summary: 'make an account with its first endpoint and key',
  options: CREATE,
  usage: `tollgate account create <name> --plan P [--chain SLUG] [--init] [--config DIR] [--json]

Prints the account, its dashboard token (shown only now) and its first endpoint with its key, which the last line puts
into a variable of your shell. --chain takes the network of that endpoint; default: the first one of networks.yaml.
--init makes the data directory and the file of the master key where there are none yet, as serve does. Several
accounts may have one name; a warning lists the others.`,

  async run(args, io) {
    const { config, json, words, given } = readArguments(args, ['name'], CREATE)
    const { plan } = given
    if (typeof plan !== 'string') throw new UsageError('--plan is missing')
    const name = words[0]!
    if (name.trim() === '') throw new UsageError('the name is empty')
    if (!isValidName(name)) throw new UsageError('the name must be 1 to 64 printable characters')
    const make = async (store: AccountStore, known: Known): Promise<number> => {
      const served = await known.served()
      const fault = await planFault(plan, served, known)
      if (fault !== null) return fail(io, json, fault)
      const slugs = Object.keys(served.networks)
      const chain = given['chain'] ?? slugs[0]
      if (typeof chain === 'string' && findNetwork(served.networks, chain) === undefined)
        return fail(io, json, await known.whyNot('network', chain, slugs))
      const others = await store.accounts.named(name)
      if (others.length > 0) io.err(sameName(name, others))
      const { account, dashboardToken } = await store.accounts.create({ name, plan })
      const { dataDir } = known.gateway
      const made =
        chain === undefined
          ? null
          : await manage(createEndpoint, { chain }, account, { store, dataDir, served })
      if (made !== null && 'error' in made) return fail(io, json, made.error)
      const endpoint =
        made === null ? null : (made.result as { apiKey: string; httpsUrl: string; wssUrl: string })
      const result = { accountId: account.id, name: account.name, plan, dashboardToken, endpoint }
      const again = tokenAgain(io, account.id, config)
      const keys = typed(io, ['endpoint', 'list', '--account', account.id], config)
      const done = `the account ${account.id} was made: ${again} gives it a new dashboard token, "${keys}" shows its key`
      const lines = () => [
        `account          ${account.id} (${account.name}, plan ${plan})`,
        `dashboard token  ${dashboardToken}   shown only now`,
        ...(endpoint === null
          ? []
          : [...urlLines({ chain: String(chain), ...endpoint }, 17), '', `export KEY=${endpoint.apiKey}`]),
      ]
      print(io, json, result, lines, done, true)
      return 0
    }
    const making = typed(io, ['account', 'create', ...args, '--init'])
    return withAccounts({ config, json }, io, make, { init: given['init'] === true, making })
  },
}

const list: Command = {
  summary: 'list the accounts',
  usage: 'tollgate account list [--config DIR] [--json]\n  lists the accounts',

  async run(args, io) {
    const { config, json } = readArguments(args, [])
    const show = async (store: AccountStore): Promise<number> => {
      const all = (await store.accounts.list()).map(shown)
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
    }
    return withAccounts({ config, json }, io, show, { reads: true })
  },
}

const setPlan: Command = {
  summary: 'move an account to another plan',
  usage: 'tollgate account set-plan <id> <plan> [--config DIR] [--json]\n  moves an account to another plan',

  run(args, io) {
    const { config, json, words } = readArguments(args, ['id', 'plan'])
    const [id, plan] = words as [string, string]
    return withAccounts({ config, json }, io, async (store, known) => {
      const fault = await planFault(plan, await known.served(), known)
      if (fault !== null) return fail(io, json, fault)
      return told(await store.accounts.change(id, { plan }), () => noAccount(store, id), io, json)
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
      return withAccounts({ config, json }, io, async store =>
        told(await store.accounts.change(id, { status }), () => noAccount(store, id), io, json),
      )
    },
  }
}

const rotateToken: Command = {
  summary: 'give an account a new dashboard token',
  usage:
    'tollgate account rotate-token <id> [--config DIR] [--json]\n  gives an account a new dashboard token; the old one is revoked',

  run(args, io) {
    const { config, json, words } = readArguments(args, ['id'])
    const accountId = words[0]!
    return withAccounts({ config, json }, io, async store => {
      const dashboardToken = await store.accounts.rotateToken(accountId)
      if (dashboardToken === null) return fail(io, json, await noAccount(store, accountId))
      const done = `the account ${accountId} has a new dashboard token: ${tokenAgain(io, accountId, config)} gives it another`
      const lines = () => [`dashboard token  ${dashboardToken}   shown only now`]
      print(io, json, { accountId, dashboardToken }, lines, done, true)
      return 0
    })
  },
}

/** What gives an account a token when one was not seen. */
function tokenAgain(io: Io, id: string, config: string): string {
  return `"${typed(io, ['account', 'rotate-token', id], config)}"`
}

function shown({ id, name, plan, status, createdAt }: Account) {
  return { accountId: id, name, plan, status, createdAt }
}

async function told(
  account: Account | null | ChangeFault,
  whyNone: () => Promise<string>,
  io: Io,
  json: boolean,
): Promise<number> {
  if (account === null) return fail(io, json, await whyNone())
  if (typeof account === 'string') return fail(io, json, FAULTS[account])
  const lines = () => [`${account.id} (${account.name}): plan ${account.plan}, ${account.status}`]
  print(io, json, shown(account), lines, CHANGED)
  return 0
}

export const account = group('account', {
  create,
  list,
  show,
  'set-plan': setPlan,
  suspend: statusCommand('suspend', 'suspended'),
  resume: statusCommand('resume', 'active'),
  'rotate-token': rotateToken,
  rename,
  label,
  delete: remove,
})

/** Why an account cannot have this plan; null when it can. */
async function planFault(plan: string, { plans }: Served, known: Known): Promise<string | null> {
  if (plan === 'public')
    return 'the plan "public" is that of callers without a key; accounts have another one'
  const offered = Object.keys(plans).filter(name => name !== 'public')
  return offered.includes(plan) ? null : known.whyNot('plan', plan, offered)
}

/** That an account's name is not its own: commands take ids, and lists show both. */
function sameName(name: string, others: readonly string[]): string {
  const owners = others.length === 1 ? 'another account has' : `${others.length} other accounts have`
  return `tollgate: warning: ${owners} the name "${name}": ${others.join(', ')}`
}
