/** What every implementation of the port Ledger keeps to: the one on SQLite, the same as a worker asks for it, and a plain one in memory. */
import t from 'tap'
import type { Test } from 'tap'
import type { Ledger, SumsQuery } from '../../src/ports/ledger.ts'
import { SumThreads, threadOn } from '../../src/stores/sqlite/usage/sums/threads.ts'
import { openUsageDatabase } from '../../src/stores/sqlite/usage/database.ts'
import { HandedOver } from '../../src/stores/sqlite/usage/journals/hand-over.ts'
import type { Journal } from '../../src/ports/journal.ts'
import { eventsTo, open, payer } from '../stores/usage/parts.ts'
import type { Parts } from '../stores/usage/parts.ts'
import { connectWorker, silent, startKeeper } from '../support/keeper.ts'
import { PlainLedger } from '../support/plain-ledger.ts'
import type { Used } from '../support/plain-ledger.ts'
import { FleetLedger } from '../../src/stores/postgres/usage/fleet-ledger.ts'
import { connectTo, Machine, postgresConfig } from '../support/fleet-ledger.ts'
import { noServers, startPostgres } from '../support/servers.ts'
import { tempDir } from '../support/temp-dir.ts'

const implementations: Readonly<Record<string, (t: Test, used: readonly Used[]) => Promise<Ledger>>> = {
  sqlite: async (t, used) => {
    const { ledger, reads } = openLedger(t, t.testdir())
    await charge(ledger.charging, used)
    ledger.fold()
    return reads
  },
  // What has been charged here is in the keeper's ledger when it is asked.
  'a worker': async (t, used) => {
    const { database, reads } = openLedger(t, t.testdir())
    const { path } = await startKeeper(t, {
      takeOver: (...batch) => database.take(...batch),
      ledger: reads,
    })
    const file = 'journal-1-00000000000000aa.db'
    const client = await connectWorker(t, path, {
      answers: { ...silent, held: async () => ({ isTaken: await journal.handOver() }) },
    })
    const journal = new HandedOver(
      openUsageDatabase(t.testdirName, file),
      file,
      eventsTo(() => undefined),
      batch => client.takeOver(batch),
    )
    t.teardown(() => journal.close())
    await charge(journal.charging, used)
    return client
  },
  // Two machines have charged, and both are asked.
  ...(noServers === false ? { 'all gateways': openFleet } : {}),
  plain: async (_, used) => {
    const ledger = new PlainLedger()
    ledger.used.push(...used)
    return Promise.resolve(ledger)
  },
}

/** A ledger on SQLite, and how it is read. */
function openLedger(t: Test, dir: string): Pick<Parts, 'database' | 'ledger'> & { readonly reads: Ledger } {
  const { database, ledger } = open(dir)
  const sums = new SumThreads(threadOn(dir), { isLong: () => false, shorten: () => Promise.resolve() })
  t.teardown(async () => {
    await sums.close()
    ledger.close()
  })
  const reads: Ledger = {
    totals: (accountId, endpointIds) => ledger.totals(accountId, endpointIds),
    sum: query => sums.sum(query),
  }
  return { database, ledger, reads }
}

/** Two ledgers that report to one PostgreSQL, each of which has charged a part. */
async function openFleet(t: Test, used: readonly Used[]): Promise<Ledger> {
  const server = await startPostgres(t)
  const postgres = await connectTo(t, server.url)
  const machines = await Promise.all(
    ['one', 'two'].map(async name => new Machine(await tempDir(t), postgres, { name })),
  )
  for (const [i, one] of used.entries()) await charge(machines[i % 2]!.ledger.charging, [one])
  await machines[1]!.spool.flush()
  const fleet = new FleetLedger({
    postgres,
    config: postgresConfig(server.url),
    spool: machines[0]!.spool,
    own: new PlainLedger(),
  })
  t.teardown(async () => {
    await fleet.close()
    for (const machine of machines) await machine.stop()
  })
  return fleet
}

async function charge(journal: Journal, used: readonly Used[]): Promise<void> {
  for (const { accountId, endpointId, network, method, at, calls, requests, reason } of used) {
    const account = { id: accountId, plan: 'free', createdAt: 0 }
    const owner = { ...payer, account, endpoint: { ...payer.endpoint, id: endpointId, network } }
    for (let call = 0; call < calls; call += 1)
      if (reason !== null) journal.refused(owner, method, reason, at * 1000)
      else await journal.charge(owner, method, requests / calls, 0, at * 1000).commit()
  }
}

const HOUR = 3600
/** A midnight, in Unix seconds: of late, as old hours become days. */
const DAY = (Math.floor(Date.now() / 86_400_000) - 5) * 86_400
const call = { accountId: 'acc_1', endpointId: 'ep_1', network: 'eth', method: 'm', reason: null }
const used: readonly Used[] = [
  { ...call, at: DAY + 60, calls: 2, requests: 40 },
  { ...call, at: DAY + HOUR + 60, calls: 1, requests: 1 },
  { ...call, at: DAY + 60, method: 'n', calls: 1, requests: 3 },
  { ...call, at: DAY + 60, network: 'bsc', calls: 1, requests: 5 },
  { ...call, at: DAY + 24 * HOUR, endpointId: 'ep_2', calls: 3, requests: 3 },
  { ...call, at: DAY + 90, calls: 2, requests: 0, reason: 'rate_limited' },
  { ...call, at: DAY + 95, calls: 1, requests: 0, reason: 'plan_required' },
  { ...call, at: DAY + 60, accountId: 'acc_2', endpointId: 'ep_9', calls: 7, requests: 7 },
]
const all: SumsQuery = {
  accountId: 'acc_1',
  endpointId: null,
  network: null,
  method: null,
  from: DAY,
  to: DAY + 48 * HOUR,
  by: 'hour',
  groupBy: ['time', 'endpoint', 'network', 'method'],
  detail: false,
  top: null,
  after: null,
}

for (const [name, make] of Object.entries(implementations)) {
  t.test(`${name}: totals are an endpoint's since its creation`, async t => {
    const ledger = await make(t, used)
    const totals = await ledger.totals('acc_1')
    t.strictSame(
      new Map([...totals].sort()),
      new Map([
        ['ep_1', { calls: 5, requests: 49 }],
        ['ep_2', { calls: 3, requests: 3 }],
      ]),
    )
    t.strictSame(
      [...(await ledger.totals('acc_1', ['ep_2', 'ep_none']))],
      [['ep_2', { calls: 3, requests: 3 }]],
    )
    t.strictSame([...(await ledger.totals('acc_none'))], [])
  })

  t.test(`${name}: sums are grouped and in order, hour by hour or day by day`, async t => {
    const ledger = await make(t, used)
    const ask = async (query: Partial<SumsQuery>): Promise<unknown> => {
      const page = await ledger.sum({ ...all, ...query })
      if (typeof page === 'string') throw new Error(page)
      t.equal(page.last, null)
      return JSON.parse(page.rows)
    }
    const row = { endpointId: 'ep_1', network: 'eth', method: 'm', errors: 0, refusals: 0 }
    t.same(await ask({}), [
      { ...row, time: DAY, network: 'bsc', calls: 1, requests: 5 },
      { ...row, time: DAY, calls: 2, requests: 40, refusals: 3 },
      { ...row, time: DAY, method: 'n', calls: 1, requests: 3 },
      { ...row, time: DAY + HOUR, calls: 1, requests: 1 },
      { ...row, time: DAY + 24 * HOUR, endpointId: 'ep_2', calls: 3, requests: 3 },
    ])
    t.same(await ask({ by: 'day', groupBy: ['time'] }), [
      { time: DAY, calls: 5, requests: 49, errors: 0, refusals: 3 },
      { time: DAY + 24 * HOUR, calls: 3, requests: 3, errors: 0, refusals: 0 },
    ])
    t.same(await ask({ groupBy: ['endpoint'], endpointId: 'ep_2' }), [
      { endpointId: 'ep_2', calls: 3, requests: 3, errors: 0, refusals: 0 },
    ])
    t.same(await ask({ groupBy: ['method'], from: DAY + HOUR, to: DAY + 2 * HOUR }), [
      { method: 'm', calls: 1, requests: 1, errors: 0, refusals: 0 },
    ])
    t.same(await ask({ groupBy: ['reason'] }), [
      { reason: 'plan_required', refusals: 1 },
      { reason: 'rate_limited', refusals: 2 },
    ])
    t.same(await ask({ accountId: 'acc_none' }), [])
  })
}
