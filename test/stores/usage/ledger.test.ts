import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { lockDataDir } from '../../../src/stores/sqlite/usage/lock.ts'
import { Meter } from '../../support/meter.ts'
import { openUsageReader } from '../../../src/stores/sqlite/usage/reader.ts'
import type { UsageReader } from '../../../src/ports/ledger.ts'
import { admitted, closeToWrites, eventsTo, NOW, open, payer, plan, reading, usedOf } from './parts.ts'

t.test('a charge is committed, counted at once, and still there after a restart', async t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  const calls = [1, 3, 5, 20].map(cost => admitted(meter.admit(payer, `cost${cost}`, cost, NOW)))
  t.equal(calls[0]?.batch.state, 'open')
  for (const call of calls) t.ok(await meter.committed(call))
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 4, requests: 29 })
  ledger.close()
  const again = open(dir)
  t.strictSame(again.ledger.totals('acc_1').get('ep_1'), { calls: 4, requests: 29 })
  t.equal(usedOf(again.meter.quota(payer.account, plan, NOW)), 29)
  again.ledger.close()
})

t.test('what was committed and not folded is recovered from the journal', async t => {
  const dir = t.testdir({ live: {}, copy: {} })
  const { ledger, meter } = open(join(dir, 'live'))
  t.ok(await meter.committed(admitted(meter.admit(payer, 'eth_call', 3, NOW))))
  cpSync(join(dir, 'live'), join(dir, 'copy'), { recursive: true }) // as a killed process leaves it
  const copy = openUsageReader(join(dir, 'copy'))
  t.strictSame(
    copy.totals('acc_1').get('ep_1'),
    { calls: 1, requests: 3 },
    'a reader sees it before any fold',
  )
  copy.close()
  const recovered = open(join(dir, 'copy'))
  const rows = reading(join(dir, 'copy')).rows({ from: 0, to: NOW, by: 'hour' })
  t.match(rows, [{ method: 'eth_call', calls: 1, requests: 3, time: Math.floor(NOW / 3_600_000) * 3600 }])
  t.equal(rows.length, 1)
  recovered.ledger.close()
  ledger.close()
})

t.test('what a killed process has left is not mixed with what comes before it can be folded', async t => {
  const dir = t.testdir({ first: {}, second: {}, third: {} })
  const at = (name: string) => join(dir, name)
  const first = open(at('first'))
  // The first place of the journal is without an entry: the counter has a refusal only.
  first.meter.refused(payer, 'refused', 'plan_required', NOW)
  t.ok(await first.meter.committed(admitted(first.meter.admit(payer, 'old', 3, NOW))))
  cpSync(at('first'), at('second'), { recursive: true })
  first.ledger.close()

  const database = openUsageDatabase(at('second'))
  const fold = database.fold.bind(database)
  database.fold = () => {
    throw new Error('database or disk is full')
  }
  const failures: string[] = []
  const events = eventsTo((error: Error) => failures.push(error.message))
  const ledger = new Ledger(database, events)
  t.strictSame(failures, ['database or disk is full'])
  const meter = new Meter(ledger)
  for (const [method, cost] of [
    ['new', 5],
    ['newer', 7],
  ] as const)
    t.ok(await meter.committed(admitted(meter.admit(payer, method, cost, NOW))))
  const charged = [
    ['new', 1, 5],
    ['newer', 1, 7],
    ['old', 1, 3],
  ]
  const chargedBy = ({ rows }: Pick<UsageReader, 'rows'>) =>
    [...rows({ from: 0, to: NOW, by: 'hour' })].map(({ method, calls, requests }) => [
      method,
      calls,
      requests,
    ])
  t.strictSame(chargedBy(reading(at('second'))), charged)
  cpSync(at('second'), at('third'), { recursive: true })
  const reader = openUsageReader(at('third'))
  t.strictSame(chargedBy(reader), charged, 'in another process')
  reader.close()
  const third = open(at('third'))
  t.strictSame(chargedBy(reading(at('third'))), charged, 'and behind another kill')
  third.ledger.close()
  database.fold = fold
  ledger.close()
})

t.test('a call refused after admission gives everything back, before or after its commit', async t => {
  const { ledger, meter } = open(t.testdir())
  const before = admitted(meter.admit(payer, 'm', 20, NOW))
  void meter.giveBack(before)
  const after = admitted(meter.admit(payer, 'm', 20, NOW))
  t.ok(await meter.committed(after))
  void meter.giveBack(after)
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 0, requests: 0 })
  t.equal(usedOf(meter.quota(payer.account, plan, NOW)), 0)
  t.equal(meter.rate(payer, NOW)?.remaining, 1000)
  ledger.close()
})

t.test('the quota holds, says when it resets, and rolls over', t => {
  const { ledger, meter } = open(t.testdir())
  admitted(meter.admit(payer, 'm', 45, NOW))
  const refused = meter.admit(payer, 'm', 6, NOW)
  const end = (Math.floor(NOW / 86_400_000) + 1) * 86_400
  t.match(refused, { reason: 'quota_exhausted', data: { resetsAt: end } })
  t.equal(meter.rate(payer, NOW)?.remaining, 955, 'a refused call burns no rate')
  admitted(meter.admit(payer, 'm', 5, NOW))
  admitted(meter.admit(payer, 'm', 50, end * 1000))
  ledger.close()
  t.end()
})

t.test('a commit that fails refuses its calls, and nothing is charged or lost', async t => {
  const dir = t.testdir()
  const { database, ledger, meter, failures } = open(dir)
  const kept = admitted(meter.admit(payer, 'm', 5, NOW))
  t.ok(await meter.committed(kept))
  const writable = closeToWrites(database)
  void meter.giveBack(kept)
  const lost = admitted(meter.admit(payer, 'm', 7, NOW))
  t.notOk(await meter.committed(lost))
  void meter.giveBack(lost)
  t.equal(failures.length, 1)
  t.match(meter.admit(payer, 'm', 1, Date.now()), { reason: 'journal_unavailable' })
  writable()
  ledger.fold()
  t.equal(ledger.totals('acc_1').get('ep_1')?.requests ?? 0, 0, 'the give-back was kept for the next commit')
  ledger.close()
})

t.test('errors, refusals and the days of a row', t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  const call = admitted(meter.admit(payer, 'm', 1, NOW))
  meter.settle(call, { error: true, bytesOut: 10, upstreamMs: 1 })
  meter.refused(payer, 'other', 'plan_required', NOW)
  ledger.fold()
  const day = Math.floor(NOW / 86_400_000) * 86_400
  t.strictSame(
    reading(dir)
      .rows({ accountId: 'acc_1', from: 0, to: NOW, by: 'day' })
      .map(row => ({ ...row })),
    [
      {
        time: day,
        accountId: 'acc_1',
        endpointId: 'ep_1',
        network: 'eth',
        method: 'm',
        calls: 1,
        requests: 1,
        errors: 1,
        refusals: 0,
        bytesOut: 10,
        upstreamMs: 1,
      },
      {
        time: day,
        accountId: 'acc_1',
        endpointId: 'ep_1',
        network: 'eth',
        method: 'other',
        calls: 0,
        requests: 0,
        errors: 0,
        refusals: 1,
        bytesOut: 0,
        upstreamMs: 0,
      },
    ],
  )
  t.strictSame(reading(dir).rows({ accountId: 'acc_2', from: 0, to: NOW, by: 'day' }), [])
  ledger.close()
  t.end()
})

t.test('refusals are kept by reason', t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  for (const [method, reason] of [
    ['m', 'rate_limited'],
    ['m', 'rate_limited'],
    ['m', 'plan_required'],
    ['other', 'method_not_found'],
  ] as const)
    meter.refused(payer, method, reason, NOW)
  ledger.fold()
  meter.refused(payer, 'm', 'rate_limited', NOW)
  ledger.fold()
  const query = { accountId: 'acc_1', from: 0, to: NOW, by: 'day' } as const
  t.strictSame(
    reading(dir)
      .refusals(query)
      .map(({ method, reason, refusals }) => [method, reason, refusals]),
    [
      ['m', 'plan_required', 1],
      ['m', 'rate_limited', 3],
      ['other', 'method_not_found', 1],
    ],
  )
  t.strictSame(
    reading(dir)
      .detailedRows(query)
      .map(({ refusals, refusalsByReason }) => ({
        refusals,
        ...refusalsByReason,
      })),
    [
      { refusals: 4, plan_required: 1, rate_limited: 3 },
      { refusals: 1, method_not_found: 1 },
    ],
  )
  ledger.close()
  t.end()
})

t.test('a dataDir has one serve', t => {
  const dir = t.testdir()
  const lock = lockDataDir(dir)
  t.throws(() => lockDataDir(dir), { message: `another tollgate process is using ${dir}` })
  lock.release()
  lockDataDir(dir).release()
  const other = t.testdir({ 'serve.lock': {} })
  t.throws(() => lockDataDir(other), {
    message: `${join(other, 'serve.lock')} cannot be opened for writing: it is a directory`,
  })
  t.end()
})

t.test('what is given back when its commit is told is given back before the books are closed', async t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  const [kept, returned] = [1, 2].map(cost =>
    admitted(meter.admitUnrated(payer, 'eth_subscription', cost, NOW)),
  )
  // As a notification does whose socket has closed while it waited.
  const told = Promise.resolve(meter.committed(returned!)).then(() => meter.giveBack(returned!))
  await ledger.charging.settled()
  t.equal(kept!.batch.state, 'committed')
  ledger.close()
  await told
  const again = open(dir)
  t.strictSame(again.ledger.totals('acc_1').get('ep_1'), { calls: 1, requests: 1 })
  again.ledger.close()
})
