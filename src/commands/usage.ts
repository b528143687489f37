/** `tollgate usage`: what was used, for a look or for a bill. */
import { hasAccount } from '../stores/sqlite/accounts/present.ts'
import { openUsageReader } from '../stores/sqlite/usage/reader.ts'
import type { OpenReader } from '../stores/sqlite/usage/reader.ts'
import type { UsageQuery } from '../ports/ledger.ts'
import type { Settings } from '../http/admin/running.ts'
import { noAccount, onAccounts } from './accounts/accounts.ts'
import { fail, readArguments, UsageError } from './command.ts'
import type { Arguments, Command, Io } from './command.ts'
import { knowData } from './known.ts'
import { timeOf } from './time.ts'
import { csvLines, jsonLines, tableLines } from './usage-formats.ts'
import type { Row } from './usage-formats.ts'

const DAY = 86_400
/** Milliseconds between two words about a long export, and rows between two looks at the clock. */
const TELL_EVERY = 2_000
const ROWS_A_LOOK = 1_000
/** Lines that are written at once. */
const AT_ONCE = 200

const OPTIONS = {
  account: 'string',
  from: 'string',
  to: 'string',
  by: ['hour', 'day'],
  detail: 'boolean',
  csv: 'boolean',
} as const

export const usage: Command = {
  options: OPTIONS,
  usage: `tollgate usage [--account ID] [--from T] [--to T] [--by hour|day] [--detail] [--csv | --json] [--config DIR]

T is a date (2026-11-20), a time in UTC (2026-11-20T14:00) or Unix seconds. Default: the last 30 days, by day.
--from is inclusive, --to is not. Requests are the billed units; refusals are free. --detail adds the bytes of replies, the
time that upstreams took and the reasons of refusals. Times are in UTC, in JSON Unix seconds. Hours are kept for 90 days;
of older days there is one row, at 00:00.`,

  async run(args, io) {
    const parsed = readArguments(args, [], OPTIONS)
    if (parsed.json && parsed.given['csv'] === true)
      throw new UsageError('--csv and --json are two formats; give one of them')
    const query = queryOf(parsed)
    const { gateway } = await knowData(parsed, io, { reads: true })
    const { dataDir } = gateway
    const reader = openUsageReader(dataDir)
    const detail = parsed.given['detail'] === true
    const { accountId } = query
    try {
      // Usage outlives the account that it was of.
      if (accountId !== undefined && !hasAccount(dataDir, accountId) && reader.totals(accountId).size === 0)
        return fail(io, parsed.json, await whyNone(accountId, gateway, io))
      const rows = rowsOf(reader, query, detail, progressOn(io))
      if (parsed.json) await print(io, jsonLines(rows))
      else if (parsed.given['csv'] === true) await print(io, csvLines(rows, detail))
      else await print(io, tableLines(rows, detail))
    } finally {
      reader.close()
    }
    return 0
  },
}

/** That no account has this id, and which have it for a name where the accounts can be opened: that needs the master key, usage does not. */
async function whyNone(word: string, gateway: Settings, io: Io): Promise<string> {
  try {
    return await onAccounts(gateway, io, accounts => noAccount(accounts, word))
  } catch {
    return `there is no account "${word}"`
  }
}

function queryOf({ given }: Arguments): UsageQuery {
  const { account, by = 'day', from, to } = given
  if (by !== 'hour' && by !== 'day') throw new UsageError('--by must be hour or day')
  const end = timeOf(to, '--to') ?? Math.floor(Date.now() / 1000) + 1
  const begin = timeOf(from, '--from') ?? end - 30 * DAY
  if (begin >= end) throw new UsageError('--from must be before --to')
  return { from: begin, to: end, by, ...(typeof account === 'string' ? { accountId: account } : {}) }
}

/** The rows day by day: a long read at once would keep the gateway's log from being written back, and what a day has is in memory or a temporary file. */
function* rowsOf(
  reader: OpenReader,
  query: UsageQuery,
  detail: boolean,
  progress: (rows: number) => void,
): Generator<Row> {
  const begin = Math.max(query.from, reader.oldest() ?? query.to)
  let count = 0
  for (let from = begin; from < query.to; from = Math.floor(from / DAY) * DAY + DAY) {
    const slice = { ...query, from, to: Math.min(query.to, Math.floor(from / DAY) * DAY + DAY) }
    for (const row of detail ? reader.detailedRows(slice) : reader.rows(slice)) {
      yield row
      count += 1
      if (count % ROWS_A_LOOK === 0) progress(count)
    }
  }
}

/** Writes lines as fast as they are taken, and no more once nobody reads them. */
async function print(io: Io, lines: Iterable<string>): Promise<void> {
  let waiting: string[] = []
  for (const line of lines) {
    waiting.push(line)
    if (waiting.length < AT_ONCE) continue
    io.out(waiting.join('\n'))
    waiting = []
    if (!(await io.drained())) return
  }
  if (waiting.length > 0) io.out(waiting.join('\n'))
}

/** Tells on stderr how far a long export has come. */
function progressOn(io: Io): (rows: number) => void {
  let told = Date.now()
  return rows => {
    if (Date.now() - told < TELL_EVERY) return
    told = Date.now()
    io.err(`tollgate: ${rows} rows so far`)
  }
}
