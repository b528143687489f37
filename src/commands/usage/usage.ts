/** `tollgate usage`: what was used, for a look or for a bill. */
import { counted } from '../../config/words/units.ts'
import { readNames } from '../../stores/sqlite/accounts/names.ts'
import { hasAccount } from '../../stores/sqlite/accounts/present.ts'
import type { OpenReader } from '../../stores/sqlite/usage/reader.ts'
import type { UsageQuery } from '../../ports/ledger.ts'
import { noAccount, onAccounts } from '../accounts/accounts.ts'
import { fail, readArguments, UsageError } from '../command.ts'
import type { Arguments, Command, Io } from '../command.ts'
import { knowData } from '../known.ts'
import type { Known } from '../known.ts'
import { billLines, windowLines } from './bill.ts'
import type { BillSplit } from './bill.ts'
import { csvLines, csvOfLines, jsonLines, jsonOfLines, tableLines, tableOfLines } from './formats.ts'
import type { Row } from './formats.ts'
import { moment } from '../output/table.ts'
import { nextStep, periodOf, QUOTA, spanOf } from './period.ts'
import type { Span, Step } from './period.ts'
import { EVERY_WINDOW, openReaderOf } from './reader.ts'
import { stripeLines } from './stripe.ts'

/** Milliseconds between two words about a long export, and rows between two looks at the clock. */
const TELL_EVERY = 2_000
const ROWS_A_LOOK = 1_000
/** Lines that are written at once. */
const AT_ONCE = 200

const STEPS = ['hour', 'day', 'month'] as const
const SPLITS = ['account', 'endpoint', 'network', 'method'] as const
const FORMATS = ['table', 'csv', 'json', 'stripe'] as const
type Format = (typeof FORMATS)[number]

const OPTIONS = {
  account: 'string',
  period: 'string',
  from: 'string',
  to: 'string',
  by: [...STEPS, ...SPLITS],
  detail: 'boolean',
  format: FORMATS,
  csv: 'boolean',
} as const

export const usage: Command = {
  options: OPTIONS,
  usage: `tollgate usage [--period P | --from T --to T] [--by B] [--account ID] [--format F] [--detail] [--csv] [--json]

Prints what accounts have used, from --from to before --to (default: the last 30 days) or in a period: a month (2026-11),
a day, a year, all in UTC, or "quota", the quota windows of now (with --from and --to: those that began then).

  --by hour|day|month   a row for each endpoint, network and method in each step; default: day
  --by account          a line of a bill for each account and each plan that it had: the default of --period
  --by endpoint|network|method   the same, with a line for each of those
  --format F            table, csv, json or stripe; --csv and --json are short for two of them
  --detail              of steps also the bytes of replies, the time of upstreams and the reasons of refusals

--format stripe prints a meter event for each account and each day that is over, one a line, as Stripe's API takes it at
/v2/billing/meter_events. An event has the same identifier whenever it is printed, so that Stripe counts it once although
it is sent again; it remembers identifiers for at least 24 hours. The customer is the account's label "stripe", or its
external id where that begins with cus_.

T is a date (2026-11-20), a time in UTC (2026-11-20T14:00) or Unix seconds. Requests are the billed units; refusals are
free. Times are in UTC, in JSON Unix seconds. Usage is kept by the hour, and after 90 days by the day, at 00:00: a span
has the whole of the hour, day or month of --by that a T is in, and a note says so where it is longer than asked.
--config DIR takes the configuration directory.`,

  async run(args, io) {
    const parsed = readArguments(args, [], OPTIONS)
    const asked = readAsked(parsed)
    const known = await knowData(parsed, io, { reads: true })
    const { gateway } = known
    const { dataDir } = gateway
    const reader = await openReaderOf(known, io, readingOf(asked))
    try {
      // Usage outlives the account that it was of.
      const { account, span } = asked
      if (span !== null) noteWidened(span, io)
      if (account !== undefined && !hasAccount(dataDir, account) && reader.totals(account).size === 0)
        return fail(io, parsed.json, await whyNone(account, gateway, io))
      await print(io, await linesOf(asked, reader, known, io))
    } finally {
      reader.close()
    }
    return 0
  },
}

/** Tells where the span is longer than the one that was asked for. */
function noteWidened({ asked, ...span }: Span, io: Io): void {
  for (const end of ['from', 'to'] as const)
    if (asked !== undefined && asked[end] !== span[end])
      io.err(
        `tollgate: note: usage ${end} ${moment(span[end])} is shown, not ${end} ${moment(asked[end])}: ${asked.whole} are whole`,
      )
}

/** What is to be printed. */
interface Asked {
  readonly account: string | undefined
  /** Null: the quota windows of now. */
  readonly span: Span | null
  readonly what: { readonly step: Step } | { readonly split: BillSplit | null } | 'windows'
  readonly format: Format
  readonly detail: boolean
}

function readAsked({ given, json }: Arguments): Asked {
  const { period, from, to } = given
  const account = typeof given['account'] === 'string' ? given['account'] : undefined
  const by = given['by'] ?? (period === undefined ? 'day' : 'account')
  const step = STEPS.find(each => each === by)
  const format = formatOf(given, json)
  const detail = given['detail'] === true
  const isSpan = from !== undefined || to !== undefined
  if (period !== undefined && period !== QUOTA && isSpan)
    throw new UsageError('--period stands for --from and --to; give one or the other')
  const what =
    period === QUOTA
      ? 'windows'
      : step === undefined
        ? { split: by === 'account' ? null : (by as BillSplit) }
        : { step }
  if (detail && (typeof what === 'string' || 'split' in what))
    throw new UsageError('--detail goes with --by hour, day or month')
  if (format === 'stripe' && (typeof what === 'string' || ('split' in what && what.split !== null)))
    throw new UsageError('--format stripe has one event for each account and day; it takes no other --by')
  const span =
    period === QUOTA && !isSpan
      ? null
      : typeof period === 'string' && period !== QUOTA
        ? periodOf(period)
        : spanOf(from, to, format === 'stripe' ? 'day' : (step ?? 'hour'))
  return { account, span, what, format, detail }
}

/** What of the ledger is read for it. */
function readingOf({ account, span, what, format, detail }: Asked): Parameters<typeof openReaderOf>[2] {
  const isOfSteps = typeof what !== 'string' && 'step' in what && what.step !== 'hour'
  const step = format === 'stripe' || isOfSteps ? 86_400 : 3_600
  return {
    accountId: account ?? null,
    rows: what === 'windows' || span === null ? null : { ...span, step, detail },
    windows: what === 'windows' ? EVERY_WINDOW : null,
  }
}

function formatOf(given: Arguments['given'], json: boolean): Format {
  const short = [...(json ? (['json'] as const) : []), ...(given['csv'] === true ? (['csv'] as const) : [])]
  const format = given['format']
  if (short.length > 1 || (format !== undefined && short.some(each => each !== format)))
    throw new UsageError('--csv, --json and --format are formats; give one of them')
  return short[0] ?? FORMATS.find(each => each === format) ?? 'table'
}

async function linesOf(asked: Asked, reader: OpenReader, known: Known, io: Io): Promise<Iterable<string>> {
  const { account, span, what, format, detail } = asked
  const { dataDir } = known.gateway
  if (format === 'stripe') return stripeLines(reader, readNames(dataDir), span!, account, io)
  if (what === 'windows') {
    const served = await known.servedIfKnown()
    if (served === null) throw new Error(`quotas are unknown: ${await known.fault()}`)
    const lines = windowLines(reader, readNames(dataDir), served.plans, span, Date.now(), account)
    if (format === 'json') return jsonOfLines(lines)
    return format === 'csv'
      ? csvOfLines(WINDOW_MEMBERS, lines)
      : tableOfLines(WINDOW_COLUMNS, ['requests'], lines)
  }
  if ('split' in what) {
    const lines = billLines(reader, readNames(dataDir), span!, what.split, account)
    if (format === 'json') return jsonOfLines(lines)
    const own = what.split === null ? {} : SPLIT_COLUMNS[what.split]
    const columns = { ...OWNER_COLUMNS, ...own, ...SUM_COLUMNS }
    return format === 'csv'
      ? csvOfLines(['from', 'to', ...Object.values(columns).toSpliced(2, 0, 'externalId')], lines)
      : tableOfLines(columns, Object.values(SUM_COLUMNS), lines)
  }
  const query = { ...span!, by: what.step, ...(account === undefined ? {} : { accountId: account }) }
  const rows = rowsOf(reader, query, detail, progressOn(io))
  if (format === 'json') return jsonLines(rows)
  return format === 'csv' ? csvLines(rows, detail) : tableLines(rows, detail)
}

const OWNER_COLUMNS = { ACCOUNT: 'accountId', NAME: 'name', PLAN: 'plan' }
const SUM_COLUMNS = { CALLS: 'calls', 'REQUEST UNITS': 'requests', ERRORS: 'errors', REFUSALS: 'refusals' }
const SPLIT_COLUMNS: Readonly<Record<BillSplit, Readonly<Record<string, string>>>> = {
  endpoint: { ENDPOINT: 'endpointId', 'ITS NAME': 'endpointName' },
  network: { NETWORK: 'network' },
  method: { METHOD: 'method' },
}
const WINDOW_COLUMNS = {
  ...OWNER_COLUMNS,
  FROM: 'start',
  TO: 'end',
  'REQUEST UNITS': 'requests',
  QUOTA: 'quota',
}
const WINDOW_MEMBERS = ['accountId', 'name', 'externalId', 'plan', 'start', 'end', 'requests', 'quota']

/** That no account has this id, and which have it for a name where the accounts can be opened: that needs the master key, usage does not. */
async function whyNone(word: string, gateway: Known['gateway'], io: Io): Promise<string> {
  try {
    return await onAccounts(gateway, io, accounts => noAccount(accounts, word))
  } catch {
    return `there is no account "${word}"`
  }
}

/** The rows step by step: a long read at once would keep the gateway's log from being written back, and what a step has is in memory or a temporary file. */
function* rowsOf(
  reader: OpenReader,
  query: UsageQuery,
  detail: boolean,
  progress: (rows: number) => void,
): Generator<Row> {
  const slice = query.by === 'month' ? 'month' : 'day'
  const begin = Math.max(query.from, reader.oldest() ?? query.to)
  let count = 0
  for (let from = begin; from < query.to; from = nextStep(from, slice)) {
    const one = { ...query, from, to: Math.min(query.to, nextStep(from, slice)) }
    for (const row of detail ? reader.detailedRows(one) : reader.rows(one)) {
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
    io.err(`tollgate: ${counted(rows, 'row')} so far`)
  }
}
