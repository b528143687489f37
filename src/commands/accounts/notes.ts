/** `tollgate account rename`, `label` and `delete`: what is known about an account. */
import { LABELS } from '../../ports/labels.ts'
import type { AccountChange, AccountRecord, ChangeFault } from '../../ports/accounts.ts'
import { email as emailAddress, externalId } from '../../management/checks.ts'
import type { Check } from '../../management/params.ts'
import { isValidName } from '../../stores/sqlite/accounts/name.ts'
import { noAccount, withAccounts } from './accounts.ts'
import { fail, print, readArguments, UsageError } from '../command.ts'
import type { Arguments, Command, Io } from '../command.ts'
import { labelChange } from './label-options.ts'
import { typed } from '../output/called-as.ts'

/** Why a change was refused. */
export const FAULTS: Readonly<Record<ChangeFault, string>> = {
  external_id_taken: 'another account has this external id',
  too_many_labels: `an account has at most ${LABELS.account.most} labels`,
}

export const rename: Command = {
  summary: 'give an account another name',
  usage: 'tollgate account rename <id> <name> [--config DIR] [--json]\n  gives an account another name',

  run(args, io) {
    const { config, json, words } = readArguments(args, ['id', 'name'])
    const [id, name] = words as [string, string]
    if (!isValidName(name)) throw new UsageError('the name must be 1 to 64 printable characters')
    return withAccounts({ config, json }, io, async store => {
      const account = await store.accounts.change(id, { name })
      if (account === null) return fail(io, json, await noAccount(store, id))
      return told(account, io, json)
    })
  },
}

const LABEL = { set: 'strings', remove: 'strings', email: 'string', 'external-id': 'string' } as const

export const label: Command = {
  summary: 'note labels, an email address or an external id of an account',
  options: LABEL,
  usage: `tollgate account label <id> [--set NAME=VALUE …] [--remove NAME …] [--email E] [--external-id X] [--config DIR] [--json]

Notes about an account what your own systems know it by: labels, an email address, its id there, which no two accounts
share. An empty --email= or --external-id= takes it away. Without options it shows what is noted.`,

  run(args, io) {
    const { config, json, words, given, lists } = readArguments(args, ['id'], LABEL)
    const id = words[0]!
    const labels = labelChange(lists)
    const noted = {
      ...note(given, 'email', 'email', emailAddress),
      ...note(given, 'external-id', 'externalId', externalId),
    }
    return withAccounts({ config, json }, io, async store => {
      const account = await store.accounts.change(id, { labels, ...noted })
      return account === null ? fail(io, json, await noAccount(store, id)) : told(account, io, json)
    })
  },
}

const DELETE = { purge: 'boolean' } as const

export const remove: Command = {
  summary: 'purge an account: all that is known about it, its usage apart',
  options: DELETE,
  usage: `tollgate account delete <id> --purge [--config DIR] [--json]

Removes an account with its endpoints, keys and dashboard sessions, and everything that says whose it was: name, email
address, labels, names of endpoints, and what the audit trail knows of them. Its usage stays, under its id, so that sums
of the past stay right. This cannot be undone; suspend an account to stop its calls alone.`,

  run(args, io) {
    const { config, json, words, given } = readArguments(args, ['id'], DELETE)
    const id = words[0]!
    if (given['purge'] !== true) {
      const suspend = typed(io, ['account', 'suspend', id], config)
      throw new UsageError(
        `--purge is missing: nothing of the account but its usage would be left; "${suspend}" stops its calls alone`,
      )
    }
    return withAccounts({ config, json }, io, async store => {
      if (!(await store.accounts.purge(id))) return fail(io, json, await noAccount(store, id))
      print(io, json, { accountId: id, purged: true }, () => [`${id} is purged`], 'the account was purged')
      return 0
    })
  },
}

/** What an option notes; nothing where it is not given. An empty value removes what was noted. */
function note(
  given: Arguments['given'],
  option: string,
  name: 'email' | 'externalId',
  check: Check<string>,
): Pick<AccountChange, 'email' | 'externalId'> {
  const value = given[option]
  if (typeof value !== 'string') return {}
  const checked = value === '' ? { value: null } : check(value)
  if ('wrong' in checked) throw new UsageError(`--${option} ${checked.wrong}`)
  return { [name]: checked.value }
}

function told(account: AccountRecord | ChangeFault, io: Io, json: boolean): number {
  if (typeof account === 'string') return fail(io, json, FAULTS[account])
  const { id: accountId, name, plan, status, createdAt, externalId, email, labels } = account
  const shown = Object.entries(labels).map(([label, value]) => `${label}=${value}`)
  const lines = () => [
    `${accountId} (${name}): plan ${plan}, ${status}`,
    `external id  ${externalId ?? '-'}`,
    `email        ${email ?? '-'}`,
    `labels       ${shown.length === 0 ? '-' : shown.join(', ')}`,
  ]
  print(io, json, { accountId, name, plan, status, createdAt, externalId, email, labels }, lines)
  return 0
}
