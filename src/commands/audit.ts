/** `tollgate audit`: who changed what, and when. */
import type { AuditEntry } from '../ports/audit.ts'
import { withAccounts } from './accounts/accounts.ts'
import { print, readArguments, UsageError } from './command.ts'
import type { Command } from './command.ts'
import { moment, table } from './output/table.ts'
import { timeOf } from './time.ts'

const OPTIONS = { from: 'string', to: 'string', actor: 'string', target: 'string', limit: 'string' } as const
const USUAL = 100
const MOST = 100_000

export const audit: Command = {
  options: OPTIONS,
  usage: `tollgate audit [--from T] [--to T] [--actor A] [--target ID] [--limit N] [--config DIR] [--json]

Lists changes of accounts, endpoints, keys and tokens, and reloads of the configuration: when, by whom, of what, from what
and to what; newest first, ${USUAL} unless --limit says more. T is a date (2026-11-20), a time in UTC (2026-11-20T14:00) or Unix
seconds. --target takes an account (with all of its endpoints), an endpoint, a token or the version of a configuration.
--actor takes one of: cli (this command line), gateway, token:ID (the admin API), owner:dashboard, owner:ENDPOINT (a
service_* call with the key of that endpoint). Entries are kept for audit.keep of gateway.yaml.`,

  run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const limit = given['limit'] === undefined ? USUAL : Number(given['limit'])
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
      throw new UsageError(`--limit must be a whole number from 1 to ${MOST}`)
    const word = (name: string): string | null => (typeof given[name] === 'string' ? given[name] : null)
    const query = {
      ...{ from: timeOf(given['from'], '--from'), to: timeOf(given['to'], '--to') },
      ...{ actor: word('actor'), target: word('target'), before: null, limit },
    }
    return withAccounts(
      { config, json },
      io,
      async store => {
        const found = await store.audit.read(query)
        const rows = found.map(({ at, actor, action, target, before, after }) => [
          ...[moment(at), actor, action, target],
          changeOf(before, after),
        ])
        print(io, json, found.map(shown), () => table(['TIME', 'ACTOR', 'ACTION', 'TARGET', 'CHANGE'], rows))
        return 0
      },
      { reads: true },
    )
  },
}

function shown({ at: time, actor, action, target, accountId, before, after }: AuditEntry) {
  return { time, actor, action, target, accountId, before, after }
}

/** What has changed, as `name: from → to`. */
function changeOf(before: AuditEntry['before'], after: AuditEntry['after']): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const parts = names.map(name => {
    const [from, to] = [before?.[name], after?.[name]].map(value => JSON.stringify(value))
    if (before === null) return `${name}: ${to ?? 'null'}`
    return after === null ? `${name}: ${from ?? 'null'}` : `${name}: ${from ?? '-'} → ${to ?? '-'}`
  })
  return parts.join(', ')
}
