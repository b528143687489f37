/** Commits that cannot be made at once, and files that are not where they were. */
import { copyFileSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openDatabase } from '../../../src/stores/sqlite/accounts/database.ts'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { Checkpoints } from '../../../src/stores/sqlite/usage/checkpoints.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { UsageEvents } from '../../../src/stores/sqlite/usage/events.ts'
import { Ledger } from '../../../src/stores/sqlite/usage/ledger.ts'
import { Meter } from '../../support/meter.ts'
import { openUsageReader } from '../../../src/stores/sqlite/usage/reader.ts'
import { until } from '../../support/until.ts'
import { admitted, closeToWrites, NOW, open, payer, plan, reading } from './parts.ts'

const unlimited = { ...payer, plan: { ...plan, rate: null, quota: null } }

/** What was told, in order. */
function recorder(): { readonly told: string[]; readonly events: UsageEvents } {
  const told: string[] = []
  const events: UsageEvents = {
    committed: () => told.push('committed'),
    recovered: () => told.push('recovered'),
    failed: ({ message }) => told.push(`failed: ${message}`),
    delayed: (work, { message }) => told.push(`${work}: ${message}`),
    lost: ({ message }) => told.push(`lost: ${message}`),
  }
  return { told, events }
}

t.test("calls wait for another process's lock, and are not refused for it", async t => {
  const dir = t.testdir()
  const { ledger, meter, failures } = open(dir)
  const other = openUsageDatabase(dir)
  other.database.exec('BEGIN IMMEDIATE')
  const first = admitted(meter.admit(unlimited, 'm', 1, NOW))
  const waits = meter.committed(first)
  ledger.totals('acc_1')
  t.equal(first.batch.state, 'open')
  t.equal(ledger.failure, null)
  const second = admitted(meter.admit(unlimited, 'n', 2, NOW))
  t.equal(second.batch, first.batch, 'and those that come meanwhile wait with them')
  t.match(
    meter.admit(payer, 'm', 1, NOW),
    { reason: 'journal_unavailable' },
    'but for one whose quota would be read without them',
  )
  other.database.exec('ROLLBACK')
  other.close()
  t.ok(await waits)
  t.strictSame(failures, [])
  t.strictSame(ledger.totals('acc_1').get('ep_1'), { calls: 2, requests: 3 })
  ledger.close()
  t.equal(reading(dir).rows({ from: 0, to: NOW, by: 'hour' }).length, 2)
})

t.test('the last charges wait for a lock too when the books are closed', async t => {
  const dir = t.testdir()
  const { ledger, meter, failures } = open(dir)
  const other = openUsageDatabase(dir)
  other.database.exec('BEGIN IMMEDIATE')
  const call = admitted(meter.admit(unlimited, 'm', 1, NOW))
  const settled = ledger.charging.settled()
  setImmediate(() => {
    other.database.exec('ROLLBACK')
    other.close()
  })
  await settled
  t.equal(call.batch.state, 'committed')
  ledger.close()
  t.strictSame(failures, [])
})

t.test('a commit that failed is followed by one that works, also without a call', async t => {
  const dir = t.testdir()
  const database = openUsageDatabase(dir)
  const { told, events } = recorder()
  const ledger = new Ledger(database, events)
  const meter = new Meter(ledger)
  const writable = closeToWrites(database)
  t.notOk(await meter.committed(admitted(meter.admit(unlimited, 'm', 1, NOW))))
  t.match(ledger.failure, { message: /readonly/ })
  await until('another is tried', () => Promise.resolve(told.length > 1))
  t.ok(
    told.every(line => /^failed: .*readonly/.test(line)),
    'and calls are refused as long as none works',
  )
  t.match(meter.admit(unlimited, 'm', 1, NOW), { reason: 'journal_unavailable' })
  writable()
  await until('one works', () => Promise.resolve(ledger.failure === null))
  t.same(told.slice(-2), ['committed', 'recovered'])
  t.ok(await meter.committed(admitted(meter.admit(unlimited, 'm', 3, NOW))))
  ledger.close()
  t.match(reading(dir).rows({ from: 0, to: NOW, by: 'hour' }), [{ calls: 1, requests: 3 }])
})

t.test('folds, syncs and checkpoints that fail are told as what they are', async t => {
  const dir = t.testdir()
  const database = openUsageDatabase(dir)
  const { told, events } = recorder()
  const ledger = new Ledger(database, events)
  const meter = new Meter(ledger)
  const fails = (): never => {
    throw new Error('no')
  }
  const fold = database.fold.bind(database)
  database.fold = fails
  database.sync = fails
  t.ok(await meter.committed(admitted(meter.admit(unlimited, 'm', 1, NOW))))
  await until('a round', () => Promise.resolve(told.includes('sync: no')))
  t.strictSame(told.slice(0, 3), ['committed', 'fold: no', 'sync: no'])
  t.equal(ledger.failure, null)
  database.fold = fold
  Object.defineProperty(database, 'file', { value: join(dir, 'none', 'journal.db') })
  const checkpoints = new Checkpoints(database, events)
  await checkpoints.run()
  t.match(told.at(-1), /^checkpoint: /)
  await checkpoints.close()
  ledger.close()
})

t.test('bug: what a reader kept out of the file stayed out of it until the next call', async t => {
  const dir = t.testdir({ copy: {} })
  openUsageDatabase(dir).close()
  const { database, ledger, meter } = open(dir)
  const reader = new DatabaseSync(join(dir, 'journal.db'), { readOnly: true })
  reader.exec('BEGIN')
  reader.prepare('SELECT count(*) FROM sqlite_schema').get()
  t.ok(await meter.committed(admitted(meter.admit(unlimited, 'eth_call', 7, NOW))))
  const checkpoints = new Checkpoints(database, recorder().events)
  await checkpoints.run()
  const copy = join(dir, 'copy')
  const rows = () => {
    // Without the log beside it.
    rmSync(join(copy, 'journal.db'), { force: true })
    copyFileSync(join(dir, 'journal.db'), join(copy, 'journal.db'))
    return reading(copy).rows({
      accountId: 'acc_1',
      from: NOW / 1000 - 3600,
      to: NOW / 1000 + 3600,
      by: 'hour',
    })
  }
  t.strictSame(rows(), [], 'the reader is in the way')
  reader.close()
  const written = await until('it is in the file', () => Promise.resolve(rows().length > 0 && rows()), 20_000)
  t.match(written, [{ method: 'eth_call', requests: 7 }])
  await checkpoints.close()
  ledger.close()
})

const losses: Readonly<Record<string, readonly [does: (data: string) => void, says: RegExp]>> = {
  'a backup moved over it': [
    data => {
      copyFileSync(join(data, 'journal.db'), join(data, 'backup'))
      renameSync(join(data, 'backup'), join(data, 'journal.db'))
    },
    /journal\.db was replaced while it was open$/,
  ],
  'its removal': [
    data => {
      for (const end of ['', '-wal', '-shm']) rmSync(join(data, `journal.db${end}`))
    },
    /journal\.db was removed while it was open$/,
  ],
  'the removal of its directory': [
    data => {
      rmSync(data, { recursive: true })
    },
    /journal\.db was removed while it was open$/,
  ],
  'the removal of its log': [
    data => {
      rmSync(join(data, 'journal.db-wal'))
    },
    /journal\.db-wal was removed while it was open$/,
  ],
}

for (const [what, [does, says]] of Object.entries(losses))
  t.test(`an open journal.db takes no more charges after ${what}`, async t => {
    const data = join(t.testdir({ data: {} }), 'data')
    const database = openUsageDatabase(data)
    const { told, events } = recorder()
    const ledger = new Ledger(database, events)
    const meter = new Meter(ledger)
    const kept = admitted(meter.admit(payer, 'm', 1, NOW))
    t.ok(await meter.committed(kept))
    does(data)
    await until('it is noticed', () => Promise.resolve(ledger.failure !== null))
    t.match(ledger.failure?.message, says)
    t.match(meter.admit(payer, 'm', 1, NOW), { reason: 'journal_unavailable' })
    await meter.giveBack(kept)
    t.equal(told.filter(line => line !== 'committed').length, 1, 'one line says so')
    t.match(
      told.find(line => line !== 'committed'),
      /^lost: /,
    )
    ledger.close()
    t.equal(told.filter(line => line !== 'committed').length, 1, 'also at the end')
  })

t.test('the log of a journal.db behind a link is beside its target', async t => {
  const dir = t.testdir({ data: {}, elsewhere: {} })
  openUsageDatabase(join(dir, 'elsewhere')).close()
  symlinkSync(join(dir, 'elsewhere', 'journal.db'), join(dir, 'data', 'journal.db'))
  const { ledger, meter, failures, database } = open(join(dir, 'data'))
  t.equal(database.file, join(dir, 'elsewhere', 'journal.db'))
  t.ok(await meter.committed(admitted(meter.admit(unlimited, 'm', 1, NOW))))
  database.sync()
  t.equal(database.lost(), null)
  ledger.close()
  t.strictSame(failures, [])
})

t.test('a log without its database is kept, and stops the start', async t => {
  const dir = t.testdir({ live: {} })
  const live = openUsageDatabase(join(dir, 'live'))
  const log = join(dir, 'live', 'journal.db-wal')
  const opens: Readonly<Record<string, (data: string) => unknown>> = {
    'journal.db': data => openUsageDatabase(data),
    'journal.db of a reader': data => openUsageReader(data),
    'accounts.db': data => openDatabase(data, {}),
  }
  for (const [what, opened] of Object.entries(opens))
    for (const state of ['missing', 'empty', 'behind a link']) {
      const data = join(dir, `${what} ${state}`)
      const name = what.replace(/ .*/, '')
      mkdirSync(data)
      if (state === 'empty') writeFileSync(join(data, name), '')
      if (state === 'behind a link') symlinkSync('target.db', join(data, name))
      const there = join(data, state === 'behind a link' ? 'target.db' : name)
      copyFileSync(log, `${there}-wal`)
      await t.rejects(
        Promise.resolve().then(() => opened(data)),
        {
          message: `${there} is ${state === 'empty' ? 'empty' : 'missing'} while ${there}-wal holds changes to it: put the file back, or move the -wal away if its loss is meant`,
        },
        `${what}, ${state}`,
      )
      renameSync(`${there}-wal`, join(data, 'kept'))
      if (what === 'journal.db of a reader') continue
      t.ok(await opened(data), 'and without the log it is a new one')
    }
  live.close()
})
