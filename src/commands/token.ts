/** `tollgate token …`: who may use the admin API. */
import { duration } from '../config/words/units.ts'
import { unknown } from './unknown.ts'
import { isValidName } from '../stores/sqlite/accounts/name.ts'
import { LATEST } from '../ports/clock.ts'
import { SCOPES } from '../ports/tokens.ts'
import type { Scope, Token } from '../ports/tokens.ts'
import { withAccounts } from './accounts/accounts.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command } from './command.ts'
import { group } from './group.ts'
import { typed } from './output/called-as.ts'
import { moment, table } from './output/table.ts'

const CREATE = { scope: 'strings', name: 'string', expires: 'string', init: 'boolean' } as const

const create: Command = {
  summary: 'make a token of the admin API',
  options: CREATE,
  usage: `tollgate token create --scope S[,S…] [--name N] [--expires 90d] [--init] [--config DIR] [--json]

Makes a token of the admin API, which answers under /v1/ at the admin address; GET /openapi.json describes it. The token
is shown only now; send it as "Authorization: Bearer …". The scopes: ${SCOPES.slice(0, 3).join(', ')},
${SCOPES.slice(3).join(', ')}. It ends after the time of --expires, such as 12h or 90d, or else when it is revoked. --init
makes the data directory and the file of the master key where there are none yet.`,

  run(args, io) {
    const { config, json, given, lists } = readArguments(args, [], CREATE)
    const scopes = scopesOf(lists['scope'] ?? [])
    const { name = null, expires } = given
    if (typeof name === 'string' && !isValidName(name))
      throw new UsageError('the name must be 1 to 64 printable characters')
    const span = typeof expires === 'string' ? duration(expires) : null
    if (expires !== undefined && (span === null || span < 1_000))
      throw new UsageError('--expires must be a time such as 12h or 90d')
    const expiresAt = span === null ? null : Math.floor((Date.now() + span) / 1000)
    if (expiresAt !== null && expiresAt > LATEST)
      throw new UsageError('--expires must end in the year 9999 at the latest')
    const making = typed(io, ['token', 'create', ...args, '--init'])
    return withAccounts(
      { config, json },
      io,
      async store => {
        const wish = { name: typeof name === 'string' ? name : null, scopes, expiresAt }
        const { token, secret } = await store.tokens.create(wish)
        const lines = () => [
          `token    ${secret}   shown only now`,
          `id       ${token.id}`,
          `scopes   ${scopes.join(', ')}`,
          `expires  ${expiresAt === null ? 'never' : moment(expiresAt)}`,
        ]
        const revoke = typed(io, ['token', 'revoke', token.id], config)
        print(
          io,
          json,
          { ...shown(token), token: secret },
          lines,
          `the token was made: "${revoke}" revokes it`,
          true,
        )
        return 0
      },
      { init: given['init'] === true, making },
    )
  },
}

const list: Command = {
  summary: 'list the tokens of the admin API',
  usage:
    'tollgate token list [--config DIR] [--json]\n  lists the tokens of the admin API that are valid now',

  run(args, io) {
    const { config, json } = readArguments(args, [])
    const show = async (store: Parameters<Parameters<typeof withAccounts>[2]>[0]): Promise<number> => {
      const all = await store.tokens.list()
      const rows = all.map(({ id, name, scopes, createdAt, expiresAt }) => [
        id,
        name ?? '',
        scopes.join(','),
        moment(createdAt),
        expiresAt === null ? 'never' : moment(expiresAt),
      ])
      print(io, json, all.map(shown), () => table(['TOKEN', 'NAME', 'SCOPES', 'CREATED', 'EXPIRES'], rows))
      return 0
    }
    return withAccounts({ config, json }, io, show, { reads: true })
  },
}

const revoke: Command = {
  summary: 'revoke a token of the admin API',
  usage: 'tollgate token revoke <id> [--config DIR] [--json]\n  revokes a token of the admin API at once',

  run(args, io) {
    const { config, json, words } = readArguments(args, ['id'])
    const id = words[0]!
    return withAccounts({ config, json }, io, async store => {
      if (!(await store.tokens.revoke(id))) return fail(io, json, `there is no token "${id}"`)
      print(io, json, { tokenId: id, revoked: true }, () => [`${id} is revoked`], 'the token was revoked')
      return 0
    })
  },
}

export const token = group('token', { create, list, revoke })

/** Scopes as given: each by an option of its own, or several with commas. */
function scopesOf(given: readonly string[]): readonly Scope[] {
  const words = given.flatMap(each => each.split(',')).map(word => word.trim())
  if (words.length === 0) throw new UsageError(`--scope is missing; expected some of ${SCOPES.join(', ')}`)
  for (const word of words)
    if (!(SCOPES as readonly string[]).includes(word)) throw new UsageError(unknown('scope', word, SCOPES))
  return SCOPES.filter(scope => words.includes(scope))
}

function shown({ id, name, scopes, createdAt, expiresAt }: Token) {
  return { tokenId: id, name, scopes, createdAt, expiresAt }
}
