/** Folding in slices: whatever happens between two of them, every reader sees each charge once. */
import { randomInt } from 'node:crypto'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { Meter } from '../../support/meter.ts'
import type { Admission } from '../../support/meter.ts'
import type { Payer } from '../../../src/ports/limits.ts'
import { openUsageReader } from '../../../src/stores/sqlite/usage/reader.ts'
import { answer } from '../../../src/stores/sqlite/usage/sums/answer.ts'
import { Scan } from '../../../src/stores/sqlite/usage/sums/scan.ts'
import type { SumsQuery } from '../../../src/ports/ledger.ts'
import { Random } from '../../support/random.ts'
import { admitted, eventsTo, NOW, open, payer, plan, reading, usedOf } from './parts.ts'

const ACCOUNTS = [0, 1, 2]
const METHODS = ['a', 'b', 'c', 'd', 'e']

function payerOf(account: number): Payer {
  const quota = { requests: 1_000_000, every: 86_400_000 }
  return {
    account: { id: `acc_${account}`, plan: 'free', createdAt: 0 },
    endpoint: { id: `ep_${account}`, network: 'eth', dailyLimit: null, limitedSince: 0 },
    plan: { ...plan, rate: null, quota },
    endpointRate: null,
  }
}

/** What each account was charged, by method: calls and requests. */
type Charged = Map<string, Map<string, readonly [number, number]>>

function add(
  charged: Charged,
  { payer: { account }, counter: { method } }: Admission,
  calls: number,
  cost: number,
): void {
  const methods = charged.get(account.id) ?? new Map<string, readonly [number, number]>()
  const [before, requests] = methods.get(method) ?? [0, 0]
  charged.set(account.id, methods.set(method, [before + calls, requests + cost]))
}

/** The same as another process reads it. */
function readByProcess(dir: string): Charged {
  const charged: Charged = new Map()
  const rows = reading(dir).rows({ from: 0, to: NOW, by: 'hour' })
  for (const { accountId, method, calls, requests } of rows) {
    const methods = charged.get(accountId) ?? new Map<string, readonly [number, number]>()
    const [before, sum] = methods.get(method) ?? [0, 0]
    charged.set(accountId, methods.set(method, [before + calls, sum + requests]))
  }
  return charged
}

function requestsOf(charged: Charged, account: string): number {
  return [...(charged.get(account) ?? new Map<string, readonly [number, number]>()).values()].reduce(
    (sum, [, requests]) => sum + requests,
    0,
  )
}

/** Without what is nothing: a charge that was given back leaves a row or not. */
function told(charged: Charged): unknown {
  return [...charged]
    .flatMap(([account, methods]) => [...methods].map(([method, sums]) => [account, method, ...sums]))
    .filter(([, , calls, requests]) => calls !== 0 || requests !== 0)
    .sort()
}

t.test(
  'between any two slices every reader sees each charge once, and so does the process behind a kill',
  t => {
    const random = new Random(randomInt(2 ** 32))
    t.comment(`seed ${random.seed}`)
    const dir = t.testdir({ live: {} })
    let live = join(dir, 'live')
    let { ledger, meter, failures } = open(live)
    const charged: Charged = new Map()
    let flying: Admission[] = []
    let [slices, kills] = [0, 0]
    const look = (step: string): void => {
      // Quotas first, then totals: the one commits what waits where it matters, the other all of it, which other processes see then.
      const used = ACCOUNTS.map(account => {
        const { account: who, plan } = payerOf(account)
        return usedOf(new Meter(ledger).quota(who, plan, NOW))
      })
      const inside = ACCOUNTS.map(
        account => ledger.totals(`acc_${account}`).get(`ep_${account}`)?.requests ?? 0,
      )
      const sums = ACCOUNTS.map(account => requestsOf(charged, `acc_${account}`))
      t.strictSame([inside, used], [sums, sums], `${step}: the gateway`)
      t.strictSame(told(readByProcess(live)), told(charged), `${step}: another process`)
      const thread = new DatabaseSync(join(live, 'journal.db'), { readOnly: true })
      const pages = ACCOUNTS.map(account => sumOf(thread, `acc_${account}`))
      thread.close()
      t.strictSame(pages, sums, `${step}: the threads`)
    }
    for (let round = 0; round < 60; round += 1) {
      const work = ledger.foldInSlices(0)
      for (let over = false; !over;) {
        for (let call = random.below(4); call > 0; call -= 1) {
          const cost = random.pick([1, 3, 5])
          const admission = admitted(
            meter.admit(payerOf(random.pick(ACCOUNTS)), random.pick(METHODS), cost, NOW),
          )
          add(charged, admission, 1, cost)
          flying.push(admission)
        }
        if (flying.length > 0 && random.below(3) === 0) {
          const gone = flying.splice(random.below(flying.length), 1)[0]!
          add(charged, gone, -1, -gone.cost)
          void meter.giveBack(gone)
        }
        if (random.below(4) === 0)
          meter.refused(payerOf(random.pick(ACCOUNTS)), 'refused', 'plan_required', NOW)
        if (random.below(2) === 0) look(`round ${round}`)
        over = work.next().done === true
        slices += 1
        if (random.below(20) === 0) {
          look(`round ${round}, before a kill`)
          kills += 1
          const copy = join(dir, `copy${kills}`)
          cpSync(live, copy, { recursive: true })
          ledger.close()
          ;[live, flying] = [copy, []]
          t.strictSame(told(readByProcess(live)), told(charged), 'another process, behind the kill')
          ;({ ledger, meter, failures } = open(live))
          look(`round ${round}, behind a kill`)
          break
        }
      }
    }
    t.ok(slices > 200, `${slices} slices`)
    t.ok(kills > 0)
    ledger.close()
    t.strictSame(failures, [])
    t.strictSame(told(readByProcess(live)), told(charged), 'at the end')
    t.end()
  },
)

function sumOf(database: DatabaseSync, accountId: string): number {
  const query: SumsQuery = {
    accountId,
    endpointId: null,
    network: null,
    method: null,
    from: 0,
    to: NOW,
    by: 'hour',
    groupBy: [],
    detail: false,
    top: null,
    after: null,
  }
  const rows = JSON.parse(answer(query, new Scan(database, query, () => false)).rows) as {
    requests: number
  }[]
  return rows[0]?.requests ?? 0
}

t.test('a slice that fails is as if it had not been, and the next one does its work', async t => {
  const dir = t.testdir()
  const database = openUsageDatabase(dir)
  const ledger = new Ledger(
    database,
    eventsTo(error => t.fail(error.message)),
  )
  const meter = new Meter(ledger)
  const unlimited = { ...payer, plan: { ...plan, rate: null, quota: null } }
  const calls = METHODS.map(method => admitted(meter.admit(unlimited, method, 2, NOW)))
  t.ok(await meter.committed(calls.at(-1)!))
  const work = ledger.foldInSlices(0)
  t.notOk(work.next().done)
  const other = openUsageDatabase(dir)
  other.database.exec('BEGIN IMMEDIATE')
  t.throws(() => work.next(), /locked/)
  other.database.exec('ROLLBACK')
  other.close()
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 5, requests: 10 })
  ledger.fold()
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 5, requests: 10 })
  const reader = openUsageReader(dir)
  t.strictSame(reader.totals('acc_1').get('ep_1'), { calls: 5, requests: 10 })
  reader.close()
  ledger.close()
})

t.test('records leave the journal behind their counters, and places begin anew when it is empty', t => {
  const dir = t.testdir()
  const database = openUsageDatabase(dir)
  const ledger = new Ledger(
    database,
    eventsTo(error => t.fail(error.message)),
  )
  const meter = new Meter(ledger)
  const unlimited = { ...payer, plan: { ...plan, rate: null, quota: null } }
  const records = (): unknown => database.database.prepare('SELECT count(*) AS n FROM journal').get()
  const call = (method: string): Admission => {
    const admission = admitted(meter.admit(unlimited, method, 1, NOW))
    ledger.totals('')
    return admission
  }
  call('a')
  call('b')
  const work = ledger.foldInSlices(0)
  t.notOk(work.next().done)
  t.match(records(), { n: 2 })
  t.equal(call('a').counter.place, 3, 'a counter that comes in between is folded in the next round')
  while (work.next().done !== true);
  t.match(records(), { n: 1 })
  t.ok(ledger.fold())
  t.match(records(), { n: 0 })
  t.equal(call('b').counter.place, 1)
  ledger.close()
  t.end()
})
