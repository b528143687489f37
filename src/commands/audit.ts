/** `tollgate audit`: who changed what, and when. */
import { MANY, OWNER_ENTRIES } from '../ports/audit.ts'
import type { Audit, AuditEntry, AuditPage, AuditQuery } from '../ports/audit.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'
import { withAccounts } from './accounts/accounts.ts'
import { fail, print, readArguments, UsageError } from './command.ts'
import type { Command } from './command.ts'
import { moment, table } from './output/table.ts'
import { timeOf } from './time.ts'

const OPTIONS = { from: 'string', to: 'string', actor: 'string', target: 'string', limit: 'string' } as const
const USUAL = 100
const MOST = 100_000
/** Pages of the trail that are printed at most: some 16 MiB. */
const MOST_PAGES = 64
const ACTOR = /^(cli|gateway|(owner|token):[\w-]+)$/

export const audit: Command = {
  options: OPTIONS,
  usage: `tollgate audit [--from T] [--to T] [--actor A] [--target ID] [--limit N] [--config DIR] [--json]

Lists changes of accounts, endpoints, keys and tokens, and reloads of the configuration: when, by whom, of what, from what
and to what; newest first, ${USUAL} unless --limit says more. T is a date (2026-11-20), a time in UTC (2026-11-20T14:00) or Unix
seconds. --target takes an account (with all of its endpoints), an endpoint, a token or the version of a configuration.
--actor takes one of: cli (this command line), gateway, token:ID (the admin API), owner:dashboard, owner:ENDPOINT (a
service_* call with the key of that endpoint), ${MANY}. Of an account whose owners change more than ${OWNER_ENTRIES} things within 24
hours, what is beyond is counted: an entry of ${MANY} for each kind of change and hour says how many, by whom, of what
and which members. Of a long list it says what was added and removed. Entries are kept for audit.keep of gateway.yaml.`,

  run(args, io) {
    const { config, json, given } = readArguments(args, [], OPTIONS)
    const limit = given['limit'] === undefined ? USUAL : Number(given['limit'])
    if (!Number.isInteger(limit) || limit < 1 || limit > MOST)
      throw new UsageError(`--limit must be a whole number from 1 to ${MOST}`)
    const word = (name: string): string | null => (typeof given[name] === 'string' ? given[name] : null)
    const actor = word('actor')
    if (actor !== null && !ACTOR.test(actor))
      throw new UsageError('--actor must be cli, gateway, token:ID, owner:dashboard or owner:ENDPOINT')
    const query = {
      from: timeOf(given['from'], '--from'),
      to: timeOf(given['to'], '--to'),
      actor,
      target: word('target'),
      before: null,
      limit,
    }
    return withAccounts(
      { config, json },
      io,
      async store => {
        const { entries, next } = await readAll(store.audit, query)
        if (entries.length === 0 && query.target !== null && !(await isKnown(query.target, store)))
          return fail(io, json, `there is no ${JSON.stringify(query.target)} in the audit trail`)
        const rows = entries.map(({ at, actor, action, target, before, after }) => [
          moment(at),
          actor,
          action,
          target,
          changeOf(before, after),
        ])
        print(io, json, entries.map(shown), () =>
          table(['TIME', 'ACTOR', 'ACTION', 'TARGET', 'CHANGE'], rows),
        )
        if (next !== null && entries.length < limit)
          io.err(
            `tollgate: these are not all, as they are long; --to ${entries.at(-1)!.at + 1} shows older ones`,
          )
        return 0
      },
      { reads: true },
    )
  },
}

/** As many entries as were asked for, or as can be printed. */
async function readAll(audit: Audit, query: AuditQuery): Promise<AuditPage> {
  const entries: AuditEntry[] = []
  let next = query.before
  for (let pages = 0; pages < MOST_PAGES; pages += 1) {
    const page = await audit.read({ ...query, before: next, limit: query.limit - entries.length })
    entries.push(...page.entries)
    next = page.next
    if (next === null || entries.length === query.limit) break
  }
  return { entries, next }
}

/** Whether it is something that entries could be about, in this time or another. */
async function isKnown(target: string, { accounts, endpoints, audit }: AccountStore): Promise<boolean> {
  if ((await accounts.find(target)) !== null || (await endpoints.label(target)) !== null) return true
  const any = { from: null, to: null, actor: null, target, before: null, limit: 1 }
  return (await audit.read(any)).entries.length > 0
}

function shown({ at: time, actor, action, target, accountId, before, after }: AuditEntry) {
  return { time, actor, action, target, accountId, before, after }
}

/** What has changed, as `name: from → to`. */
function changeOf(before: AuditEntry['before'], after: AuditEntry['after']): string {
  const names = [...new Set([...Object.keys(before ?? {}), ...Object.keys(after ?? {})])]
  const parts = names.map(name => {
    const [from, to] = [before?.[name], after?.[name]].map(value => shownValue(name, value))
    if (from === undefined) return `${name}: ${to ?? 'null'}`
    return after === null ? `${name}: ${from}` : `${name}: ${from} → ${to ?? '-'}`
  })
  return parts.join(', ')
}

/** Times are named so; like those of the first column they are shown in UTC. */
function shownValue(name: string, value: unknown): string | undefined {
  return typeof value === 'number' && /(At|^until)$/.test(name) ? moment(value) : JSON.stringify(value)
}
