import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openUsageDatabase } from '../../src/usage/database.ts'
import { Ledger } from '../../src/usage/ledger.ts'
import { lockDataDir } from '../../src/usage/lock.ts'
import { Meter } from '../../src/usage/meter.ts'
import type { Admission, Payer } from '../../src/usage/meter.ts'
import { openUsageReader } from '../../src/usage/reader.ts'

const plan = {
  name: 'free',
  tiers: ['any'],
  rate: { perSecond: 100, burst: 1000 },
  quota: { requests: 50, every: 86_400_000 },
  maxBatch: 10,
  ws: { connections: 1, subscriptions: 1 },
}
const payer: Payer = {
  account: { id: 'acc_1', createdAt: 0 },
  endpoint: { id: 'ep_1', network: 'eth' },
  plan,
  endpointRate: null,
}
const NOW = 1_800_000_000_000

interface Parts {
  readonly ledger: Ledger
  readonly meter: Meter
  readonly failures: Error[]
}

function open(dir: string): Parts {
  const failures: Error[] = []
  const events = { committed: () => undefined, failed: (error: Error) => failures.push(error) }
  const ledger = new Ledger(openUsageDatabase(dir), events)
  return { ledger, meter: new Meter(ledger), failures }
}

function admitted(value: ReturnType<Meter['admit']>): Admission {
  if ('reason' in value) throw new Error(value.reason)
  return value
}

t.test('a charge is committed, counted at once, and still there after a restart', async t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  const calls = [1, 3, 5, 20].map(cost => admitted(meter.admit(payer, `cost${cost}`, cost, NOW)))
  t.equal(calls[0]?.group.state, 'open')
  for (const call of calls) t.ok(await meter.committed(call))
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 4, requests: 29 })
  ledger.close()
  const again = open(dir)
  t.strictSame(again.ledger.totals('acc_1').get('ep_1'), { calls: 4, requests: 29 })
  t.equal(again.meter.quota(payer.account, plan, NOW)?.used, 29)
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
  const rows = recovered.ledger.rows({ from: 0, to: NOW, by: 'hour' })
  t.match(rows, [{ method: 'eth_call', calls: 1, requests: 3, time: Math.floor(NOW / 3_600_000) * 3600 }])
  t.equal(rows.length, 1)
  recovered.ledger.close()
  ledger.close()
})

t.test('a call refused after admission gives everything back, before or after its commit', async t => {
  const { ledger, meter } = open(t.testdir())
  const before = admitted(meter.admit(payer, 'm', 20, NOW))
  meter.giveBack(before)
  const after = admitted(meter.admit(payer, 'm', 20, NOW))
  t.ok(await meter.committed(after))
  meter.giveBack(after)
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 0, requests: 0 })
  t.equal(meter.quota(payer.account, plan, NOW)?.used, 0)
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
  const { ledger, meter, failures } = open(dir)
  const kept = admitted(meter.admit(payer, 'm', 5, NOW))
  t.ok(await meter.committed(kept))
  const other = openUsageDatabase(dir)
  other.database.exec('BEGIN IMMEDIATE')
  meter.giveBack(kept)
  const lost = admitted(meter.admit(payer, 'm', 7, NOW))
  t.notOk(await meter.committed(lost))
  meter.giveBack(lost)
  t.equal(failures.length, 1)
  t.match(meter.admit(payer, 'm', 1, Date.now()), { reason: 'journal_unavailable' })
  other.database.exec('ROLLBACK')
  other.close()
  ledger.fold()
  t.equal(ledger.totals('acc_1').get('ep_1')?.requests ?? 0, 0, 'the give-back was kept for the next commit')
  ledger.close()
})

t.test('errors, refusals and the days of a row', t => {
  const { ledger, meter } = open(t.testdir())
  const call = admitted(meter.admit(payer, 'm', 1, NOW))
  meter.settle(call, { error: true, bytesOut: 10, upstreamMs: 1 })
  meter.refused(payer, 'other', NOW)
  ledger.fold()
  const day = Math.floor(NOW / 86_400_000) * 86_400
  t.strictSame(
    ledger.rows({ accountId: 'acc_1', from: 0, to: NOW, by: 'day' }).map(row => ({ ...row })),
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
      },
    ],
  )
  t.strictSame(ledger.rows({ accountId: 'acc_2', from: 0, to: NOW, by: 'day' }), [])
  ledger.close()
  t.end()
})

t.test('a dataDir has one serve', t => {
  const dir = t.testdir()
  const lock = lockDataDir(dir)
  t.throws(() => lockDataDir(dir), { message: `another tollgate serve is using ${dir}` })
  lock.release()
  lockDataDir(dir).release()
  t.end()
})
