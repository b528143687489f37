import { randomInt } from 'node:crypto'
import { join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { Meter, type Admission } from '../../support/meter.ts'
import type { Payer } from '../../../src/ports/limits.ts'
import { openUsageReader } from '../../../src/stores/sqlite/usage/reader.ts'
import { answer } from '../../../src/stores/sqlite/usage/sums/answer.ts'
import { Scan } from '../../../src/stores/sqlite/usage/sums/scan.ts'
import type { Column } from '../../../src/ports/ledger.ts'
import { COLUMNS } from '../../../src/ports/ledger.ts'
import type { SumsQuery } from '../../../src/ports/ledger.ts'
import type { UsageQuery, UsageReader } from '../../../src/ports/ledger.ts'
import { Random } from '../../support/random.ts'
import { eventsTo, refusalsOf } from './parts.ts'

const hour = 3_600_000
const NOW = Date.UTC(2026, 11, 31, 23, 59, 30)

/** The account's second endpoint moves from one network to another and back. */
function payerOf(account: number, endpoint: number, network = endpoint === 0 ? 'eth' : 'sol'): Payer {
  return {
    account: { id: `acc_${account}`, plan: 'free', createdAt: 0 },
    endpoint: { id: `ep_${account}_${endpoint}`, network, dailyLimit: null, limitedSince: 0 },
    plan: {
      name: 'free',
      tiers: ['any'],
      rate: null,
      quota: { requests: 1_000_000, every: 'month' },
      maxBatch: 10,
      alerts: null,
      managementKeys: 'all',
      ws: { connections: 1, subscriptions: 1 },
    },
    endpointRate: null,
  }
}

/** Totals in a fixed order. */
function told(reader: { totals: UsageReader['totals'] }, accountId: string): unknown {
  return [...reader.totals(accountId)].sort(([a], [b]) => (a < b ? -1 : 1))
}

/** How rows name the columns that they do not name alike. */
const NAMED: Readonly<Partial<Record<Column, string>>> = { account: 'accountId', endpoint: 'endpointId' }

t.test(
  'the gateway, which holds the counters, and other processes, which read the journal, say the same',
  async t => {
    const random = new Random(randomInt(2 ** 32))
    t.comment(`seed ${random.seed}`)
    const dir = t.testdir()
    const events = eventsTo((error: Error) => t.fail(error.message))
    const ledger = new Ledger(openUsageDatabase(dir), events)
    const meter = new Meter(ledger)
    const reader = openUsageReader(dir)
    const thread = new DatabaseSync(join(dir, 'journal.db'), { readOnly: true })
    const flying: Admission[] = []
    let [unfolded, pages] = [0, 0]
    for (let step = 0; step < 400; step += 1) {
      for (let call = 0; call < 5; call += 1) {
        const payer = pick(random)
        const at = NOW - random.below(50) * hour
        const admission = meter.admit(payer, random.pick(['a', 'b', 'c']), random.pick([0, 1, 3, 20]), at)
        if ('reason' in admission) throw new Error(admission.reason)
        flying.push(admission)
      }
      if (random.below(3) === 0) void meter.giveBack(flying.splice(random.below(flying.length), 1)[0]!)
      if (random.below(4) === 0)
        meter.refused(
          random.below(2) === 0 ? payerOf(0, 0) : payerOf(0, 1, random.pick(['sol', 'eth'])),
          random.pick(['a', 'other']),
          random.pick(['plan_required', 'no_route']),
          NOW,
        )
      const fold = random.below(10) === 0
      if (fold) ledger.fold()
      const accountId = random.pick(['acc_0', 'acc_1', 'acc_2'])
      // The gateway first: it commits what waits before it says anything.
      const inside = told(ledger, accountId)
      const atReader = told(reader, accountId)
      const one = ledger.totals(accountId, [`ep_${accountId.slice(4)}_0`, 'ep_none'])
      const query = queryOf(random, accountId)
      const found = sumsOf(thread, query)
      t.strictSame(
        [inside, one.size <= 2, found.rows],
        [atReader, true, expected(reader, query)],
        `step ${step}: ${JSON.stringify(query)}`,
      )
      pages += found.pages
      unfolded += fold ? 0 : found.rows.length
    }
    t.ok(unfolded > 1_000, 'rows were compared while the journal held charges')
    t.ok(pages > 0)
    thread.close()
    for (const admission of flying.splice(0, 10)) await meter.giveBack(admission)
    t.strictSame(told(ledger, 'acc_0'), told(reader, 'acc_0'))
    reader.close()
    ledger.close()
  },
)

function pick(random: Random): Payer {
  const [account, endpoint] = [random.below(3), random.below(2)]
  return endpoint === 0 ? payerOf(account, 0) : payerOf(account, 1, random.pick(['sol', 'eth']))
}

/** Any question, without the largest groups. */
function queryOf(random: Random, accountId: string): SumsQuery {
  const from = NOW / 1000 - random.below(180_000)
  return {
    network: random.below(4) === 0 ? random.pick(['sol', 'eth']) : null,
    method: random.below(4) === 0 ? random.pick(['a', 'other']) : null,
    accountId,
    endpointId: random.below(2) === 0 ? null : `ep_${random.below(3)}_0`,
    from,
    to: from + random.below(180_000),
    by: random.pick(['hour', 'day'] as const),
    groupBy: COLUMNS.filter(column => random.below(column === 'reason' ? 5 : 2) === 0),
    detail: false,
    top: null,
    after: null,
  }
}

/** The rows, read in two pages that meet somewhere. */
function sumsOf(database: DatabaseSync, query: SumsQuery): { readonly rows: any[]; readonly pages: number } {
  const page = (query: SumsQuery): any[] =>
    JSON.parse(answer(query, new Scan(database, query, () => false)).rows) as any[]
  const rows = page(query)
  const middle = rows[Math.floor(rows.length / 2)]
  if (middle === undefined) return { rows, pages: 0 }
  const after = query.groupBy.map(column => middle[NAMED[column] ?? column] as string | number)
  const second = page({ ...query, after })
  return { rows: [...rows.slice(0, Math.floor(rows.length / 2) + 1), ...second], pages: 1 }
}

/** The same, added up row by row. */
function expected(reader: UsageReader, query: SumsQuery): any[] {
  const { accountId, endpointId, from, to, by, groupBy } = query
  const asked: UsageQuery = {
    accountId: accountId!,
    ...(endpointId === null ? {} : { endpointId }),
    from,
    to,
    by,
  }
  const isReasons = groupBy.includes('reason')
  const groups = new Map<string, Record<string, string | number>>()
  for (const row of (isReasons
    ? refusalsOf(reader.detailedRows(asked))
    : [...reader.rows(asked)]) as unknown as Record<string, string | number>[]) {
    if (query.network !== null && row['network'] !== query.network) continue
    if (query.method !== null && row['method'] !== query.method) continue
    const names = groupBy.map(column =>
      column === 'endpoint' || column === 'account' ? `${column}Id` : column,
    )
    const values = names.map(name => row[name])
    const sums = isReasons ? ['refusals'] : ['calls', 'requests', 'errors', 'refusals']
    const batch = groups.get(values.join()) ?? {
      ...Object.fromEntries(names.map(name => [name, row[name]!])),
      ...Object.fromEntries(sums.map(name => [name, 0])),
    }
    for (const name of sums) batch[name] = Number(batch[name]) + Number(row[name])
    groups.set(values.join(), batch)
  }
  return [...groups].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, batch]) => batch)
}
