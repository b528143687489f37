import t from 'tap'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { Meter } from '../../support/meter.ts'
import type { Payer } from '../../../src/ports/limits.ts'
import { admitted, eventsTo, NOW, open, payer, plan, usedOf } from './parts.ts'

t.test('an account that was forgotten has used what it had, wherever that stands', t => {
  const { ledger, meter } = open(t.testdir())
  const used = () => usedOf(new Meter(ledger).quota(payer.account, plan, NOW))
  t.equal(used(), 0)
  const first = admitted(meter.admit(payer, 'm', 5, NOW))
  t.equal(used(), 5, 'in a commit that was open')
  t.equal(first.batch.state, 'committed')
  admitted(meter.admit(payer, 'other', 3, NOW))
  ledger.totals('acc_1')
  t.equal(used(), 8, 'in the journal')
  ledger.fold()
  t.equal(used(), 8, 'in the ledger')
  void meter.giveBack(first)
  t.equal(used(), 3, 'and given back, which was not written')
  admitted(meter.admit(payer, 'm', 20, NOW))
  t.equal(used(), 23)
  ledger.fold()
  t.equal(used(), 23)
  ledger.close()
  t.end()
})

t.test('a charge that waits while its counter is folded is known before its commit', t => {
  const { ledger, meter } = open(t.testdir())
  const unlimited = { ...payer, plan: { ...plan, rate: null, quota: null } }
  const other = { ...payer, account: { id: 'acc_2', plan: 'free', createdAt: 0 } }
  const waiting = admitted(meter.admit(other, 'm', 5, NOW))
  for (let n = 0; n < 2_000; n += 1) admitted(meter.admit(unlimited, `m${n}`, 1, NOW))
  t.equal(waiting.counter.place, 1)
  // One counter a slice.
  t.notOk(ledger.foldInSlices(0).next().done)
  t.equal(waiting.batch.state, 'open')
  t.equal(waiting.counter.place, 2_002, 'it was folded, and is to be again')
  t.equal(usedOf(new Meter(ledger).quota(other.account, plan, NOW)), 5)
  ledger.close()
  t.end()
})

t.test('the first calls of many accounts share a commit', async t => {
  let commits = 0
  const events = { ...eventsTo(error => t.fail(error.message)), committed: () => (commits += 1) }
  const dir = t.testdir()
  const ledger = new Ledger(openUsageDatabase(dir), events)
  const meter = new Meter(ledger)
  const calls = Array.from({ length: 500 }, (_, n) =>
    admitted(meter.admit({ ...payer, account: { id: `acc_${n}`, plan: 'free', createdAt: 0 } }, 'm', 1, NOW)),
  )
  t.equal(commits, 0, 'nothing waits for one yet')
  t.ok(await meter.committed(calls[0]!))
  t.equal(commits, 1)
  t.ok(calls.every(({ batch }) => batch.state === 'committed'))
  ledger.close()
})

t.test('a plan of another kind of quota counts what its window has already seen', t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  const monthly: Payer = { ...payer, plan: { ...plan, quota: { requests: 60, every: 'month' } } }
  admitted(meter.admit(payer, 'm', 40, NOW))
  t.equal(usedOf(meter.quota(payer.account, monthly.plan, NOW)), 40, 'in the process that saw the change')
  admitted(meter.admit(monthly, 'm', 5, NOW))
  ledger.close()
  const again = open(dir)
  t.equal(usedOf(again.meter.quota(payer.account, monthly.plan, NOW)), 45, 'and after a restart')
  t.equal(usedOf(again.meter.quota(payer.account, plan, NOW)), 45, 'and back')
  t.match(again.meter.admit(monthly, 'm', 16, NOW), { reason: 'quota_exhausted' })
  again.ledger.close()
  const late = open(dir)
  const weekly: Payer = { ...payer, plan: { ...plan, quota: { requests: 60, every: 7 * 86_400_000 } } }
  t.equal(
    usedOf(late.meter.quota(payer.account, weekly.plan, NOW)),
    45,
    'also when nobody was running at the change',
  )
  late.ledger.close()
  t.end()
})

t.test('a quota that cannot be read refuses its calls, and is read again by the next one', t => {
  const dir = t.testdir()
  const { ledger, meter, failures } = open(dir)
  const monthly: Payer = { ...payer, plan: { ...plan, quota: { requests: 50, every: 'month' } } }
  admitted(meter.admit(payer, 'm', 40, NOW))
  ledger.fold()
  const other = openUsageDatabase(dir)
  other.database.exec('BEGIN IMMEDIATE')
  // What the month has seen in windows of another kind cannot be written down.
  for (let time = 1; time <= 3; time += 1)
    t.match(meter.admit(monthly, 'm', 1, NOW), { reason: 'journal_unavailable' })
  t.equal(meter.quota(monthly.account, monthly.plan, NOW), 'unreadable')
  meter.refused(monthly, 'm', 'journal_unavailable', NOW)
  t.equal(failures.length, 4)
  t.equal(meter.rate(monthly, NOW)?.remaining, 960, 'a refused call burns no rate')
  t.equal(usedOf(meter.quota(payer.account, plan, NOW)), 40, 'the window that was read last stands')
  other.database.exec('ROLLBACK')
  other.close()
  t.equal(usedOf(meter.quota(monthly.account, monthly.plan, NOW)), 40)
  admitted(meter.admit(monthly, 'm', 10, NOW))
  t.match(meter.admit(monthly, 'm', 1, NOW), { reason: 'quota_exhausted' })
  ledger.close()
  t.end()
})

t.test('an account that comes into memory while its quota cannot be read has not gained any', t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  admitted(
    meter.admit({ ...payer, plan: { ...plan, quota: { requests: 50, every: 'month' } } }, 'm', 50, NOW),
  )
  ledger.fold()
  const other = openUsageDatabase(dir)
  other.database.exec('BEGIN IMMEDIATE')
  const late = new Meter(ledger)
  for (let time = 1; time <= 3; time += 1)
    t.match(late.admit(payer, 'm', 1, NOW), { reason: 'journal_unavailable' })
  other.database.exec('ROLLBACK')
  other.close()
  ledger.close()
  t.end()
})

t.test('a file that takes no more charges takes no quota either', t => {
  const dir = t.testdir()
  const database = openUsageDatabase(dir)
  const failures: string[] = []
  const ledger = new Ledger(
    database,
    eventsTo(error => failures.push(error.message)),
  )
  const meter = new Meter(ledger)
  admitted(meter.admit(payer, 'm', 40, NOW))
  ledger.fold()
  database.refuse(new Error('journal.db is damaged'))
  const monthly = { ...plan, quota: { requests: 50, every: 'month' as const } }
  t.equal(meter.quota(payer.account, monthly, NOW), 'unreadable')
  t.strictSame(failures, [], 'why was told by who found it')
  t.match(database.database.prepare('SELECT count(*) AS n FROM windows').get(), { n: 1 })
  ledger.close()
  t.end()
})
