/** `tollgate usage`: what was used, for a look or for a bill. */
import { openUsageReader } from '../usage/reader.ts'
import type { UsageQuery, UsageRow } from '../usage/types.ts'
import { print, readArguments, UsageError } from './command.ts'
import type { Arguments, Command } from './command.ts'
import { loadOrThrow } from './load.ts'
import { moment, table } from './table.ts'

const DAY = 86_400

export const usage: Command = {
  usage: `tollgate usage [--account ID] [--from T] [--to T] [--by hour|day] [--csv] [--config DIR] [--json]

T is a date (2026-11-20), a time in UTC (2026-11-20T14:00) or Unix seconds. Default: the last 30 days, by day.
--from is inclusive, --to is not. Requests are the billed units; refusals are free.`,

  async run(args, io) {
    const options = { account: 'string', from: 'string', to: 'string', by: 'string', csv: 'boolean' } as const
    const parsed = readArguments(args, [], options)
    const query = queryOf(parsed)
    const snapshot = await loadOrThrow(parsed.config, io)
    const reader = openUsageReader(snapshot.gateway.dataDir)
    const rows = reader.rows(query)
    reader.close()
    print(io, parsed.json, rows, () => (parsed.given['csv'] === true ? csv(rows) : forPerson(rows)))
    return 0
  },
}

function queryOf({ given }: Arguments): UsageQuery {
  const { account, by = 'day', from, to } = given
  if (by !== 'hour' && by !== 'day') throw new UsageError('--by has to be hour or day')
  const end = timeOf(to, '--to') ?? Math.floor(Date.now() / 1000) + 1
  const begin = timeOf(from, '--from') ?? end - 30 * DAY
  if (begin >= end) throw new UsageError('--from has to be before --to')
  return { from: begin, to: end, by, ...(typeof account === 'string' ? { accountId: account } : {}) }
}

function timeOf(given: string | boolean | undefined, name: string): number | null {
  if (typeof given !== 'string') return null
  if (/^\d{6,}$/.test(given)) return Number(given)
  const zoned = /^\d{4}-\d{2}-\d{2}T[\d:]+$/.test(given) ? `${given}Z` : given
  const time = Date.parse(zoned) / 1000
  if (!Number.isFinite(time)) throw new UsageError(`${name} has to be a date, a time or Unix seconds`)
  return Math.floor(time)
}

const COLUMNS = [
  'time',
  'accountId',
  'endpointId',
  'network',
  'method',
  'calls',
  'requests',
  'errors',
  'refusals',
] as const

/** RFC 4180; no value can hold a comma, quote or line break. */
function csv(rows: readonly UsageRow[]): string[] {
  return [COLUMNS.join(','), ...rows.map(row => COLUMNS.map(column => String(row[column])).join(','))]
}

function forPerson(rows: readonly UsageRow[]): string[] {
  if (rows.length === 0) return ['nothing was used in that time']
  const headings = [
    'TIME',
    'ACCOUNT',
    'ENDPOINT',
    'NETWORK',
    'METHOD',
    'CALLS',
    'REQUESTS',
    'ERRORS',
    'REFUSALS',
  ]
  return table(
    headings,
    rows.map(row => COLUMNS.map(column => (column === 'time' ? moment(row.time) : row[column]))),
  )
}
