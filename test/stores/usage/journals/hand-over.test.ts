import { cpSync, mkdirSync, readdirSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import t from 'tap'
import type { Test } from 'tap'
import { openUsageDatabase } from '../../../../src/stores/sqlite/usage/database.ts'
import type { UsageDatabase } from '../../../../src/stores/sqlite/usage/database.ts'
import { HandedOver } from '../../../../src/stores/sqlite/usage/journals/hand-over.ts'
import type { Batch, TakeOver } from '../../../../src/stores/sqlite/usage/journals/hand-over.ts'
import { openUsageReader } from '../../../../src/stores/sqlite/usage/reader.ts'
import {
  journalsIn,
  LeftJournals,
  openOwnJournal,
  takeOverLeft,
} from '../../../../src/stores/sqlite/usage/journals/left.ts'
import { unfoldedNow } from '../../../../src/stores/sqlite/usage/journals/unfolded.ts'
import { until } from '../../../support/until.ts'
import { eventsTo, NOW, payer, reading } from '../parts.ts'

const FILE = 'journal-1-00000000000000aa.db'

/** How the ledger's process meets a batch: takes it, is away, or is killed before it can say that it has taken it. */
type Meets = 'takes' | 'away' | 'silent'

/** A worker's journal and the ledger that takes it over. */
function open(dir: string, most?: number) {
  const ledger = openUsageDatabase(dir)
  const state: { meets: Meets; batches: Batch[]; failures: Error[]; sent: (batch: Batch) => void } = {
    meets: 'takes',
    batches: [],
    failures: [],
    sent: () => undefined,
  }
  const takeOver: TakeOver = async batch => {
    state.sent(batch)
    if (state.meets === 'away') throw new Error('the keeper is away')
    ledger.take(batch.file, batch.place, batch.usage)
    state.batches.push(batch)
    if (state.meets === 'silent') throw new Error('the keeper was killed')
    return Promise.resolve()
  }
  const database = openUsageDatabase(dir, FILE)
  const clock = { now: 0 }
  const worker = new HandedOver(
    ...([database, FILE, eventsTo(error => state.failures.push(error)), takeOver, () => clock.now] as const),
    most,
  )
  const charge = (units: number) => worker.charging.charge(payer, 'eth_call', units, 0, NOW)
  return { ledger, database, worker, state, charge, clock }
}

/** Calls and requests of the ledger in a directory. */
function sums(dir: string): { readonly calls: number; readonly requests: number; readonly refusals: number } {
  const rows = reading(dir).rows({ from: 0, to: NOW, by: 'hour' })
  const sum = (of: 'calls' | 'requests' | 'refusals') => rows.reduce((all, row) => all + row[of], 0)
  return { calls: sum('calls'), requests: sum('requests'), refusals: sum('refusals') }
}

/** Takes a journal over at once. */
function takeOver(ledger: UsageDatabase, dir: string, file: string): void {
  const round = takeOverLeft(ledger, dir, file, Infinity)
  while (round.next().done !== true);
}

const dirOf = (t: Test): string => t.testdir({})

t.test('what a worker charges and refuses comes to the ledger once, and leaves its journal', async t => {
  const dir = dirOf(t)
  const { ledger, database, worker, charge } = open(dir)
  const charges = [charge(1), charge(2)]
  charges[0]!.settle({ error: true, bytesOut: 10, upstreamMs: 3 })
  worker.charging.refused(payer, 'eth_call', 'rate_limited', NOW)
  t.ok(await worker.handOver())
  await charge(4).commit()
  t.ok(await worker.handOver())
  t.ok(await worker.handOver(), 'nothing is left')
  t.strictSame(sums(dir), { calls: 3, requests: 7, refusals: 1 })
  const [row] = reading(dir).detailedRows({ from: 0, to: NOW, by: 'hour' })
  t.match(row, { errors: 1, bytesOut: 10, upstreamMs: 3, refusalsByReason: { rate_limited: 1 } })
  t.strictSame(row?.latency?.buckets, { 5: 1 })
  t.match(database.database.prepare('SELECT count(*) AS n FROM journal').get(), { n: 0 })
  t.ok(await worker.close())
  ledger.close()
})

t.test('while nobody takes it over, what comes later is kept apart from what waits', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge, clock } = open(dir)
  state.meets = 'away'
  charge(1)
  t.notOk(await worker.handOver())
  charge(2)
  clock.now = 9_000
  for (let i = 0; i < 9; i += 1) t.notOk(await worker.handOver())
  t.strictSame(
    state.failures,
    [],
    'bug: reads of usage that had charges handed over raised an alarm within a second',
  )
  clock.now = 10_000
  t.notOk(await worker.handOver())
  t.match(state.failures[0]?.message, 'away')
  state.meets = 'takes'
  charge(4)
  t.ok(await worker.handOver())
  t.strictSame(
    state.batches.map(({ usage }) => usage.map(({ requests }) => requests)),
    [[1], [6]],
  )
  t.strictSame(sums(dir), { calls: 3, requests: 7, refusals: 0 })
  await worker.close()
  ledger.close()
})

t.test('a journal that nobody takes over is full at its bound, and empty behind the next taking', async t => {
  const dir = dirOf(t)
  // An empty one has 92 KiB of tables.
  const most = 256 * 1024
  const { ledger, worker, state, charge } = open(dir, most)
  // The timer of the journal keeps no process alive.
  const alive = setInterval(() => undefined, 1_000)
  state.meets = 'away'
  const size = () => statSync(join(dir, FILE)).size + statSync(join(dir, `${FILE}-wal`)).size
  let served = 0
  const other = (i: number) => ({
    ...payer,
    endpoint: { ...payer.endpoint, id: `ep_${i}`.padEnd(2_000, 'x') },
  })
  await until('it is full', async () => {
    for (let i = 0; i < 20; i += 1)
      if (await worker.charging.charge(other(i), 'eth_call', 1, 0, NOW).commit()) served += 1
      else return true
    await worker.handOver()
    return false
  })
  t.ok(served > 10 && size() > most, `${served} calls served`)
  t.match(worker.charging.failure?.message, /^journal-1-0{14}aa\.db holds [\d.]+ MiB that the ledger has not/)
  t.match(state.failures[0]?.message, 'that the ledger has not taken over', 'and the log has it')
  const full = size()
  t.notOk(await charge(1).commit())
  t.equal(size(), full, 'nothing is added')
  t.notOk(await worker.handOver(), 'what it holds is still handed over')
  state.meets = 'takes'
  t.ok(await worker.handOver())
  await until('it goes on by itself', () => Promise.resolve(worker.charging.failure === null))
  t.ok(await charge(1).commit())
  t.ok(await worker.handOver())
  t.strictSame(sums(dir), { calls: served + 1, requests: served + 1, refusals: 0 })
  clearInterval(alive)
  await worker.close()
  ledger.close()
})

t.test('a batch whose taking was not heard of is taken once', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge } = open(dir)
  state.meets = 'silent'
  charge(1)
  t.notOk(await worker.handOver())
  charge(2)
  t.notOk(await worker.handOver())
  state.meets = 'takes'
  t.ok(await worker.handOver())
  t.strictSame(sums(dir), { calls: 2, requests: 3, refusals: 0 })
  await worker.close()
  ledger.close()
})

t.test('a batch that is read behind the whole journal of its killed sender is taken once', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge } = open(dir)
  charge(3)
  await charge(2).commit()
  const sent: Batch[] = []
  state.meets = 'away'
  state.sent = batch => sent.push(batch)
  t.notOk(await worker.handOver())
  await charge(4).commit()
  // Its lock is free, as that of a killed process.
  const left = new LeftJournals(ledger, dir, (file, error) => t.error(error, file))
  await left.look()
  t.strictSame(sums(dir), { calls: 3, requests: 9, refusals: 0 })
  for (const { file, place, usage } of sent) left.take(file, place, usage)
  await left.look()
  t.equal(sent.length, 1)
  t.strictSame(sums(dir), { calls: 3, requests: 9, refusals: 0 })
  await left.close()
  await worker.close()
  ledger.close()
})

t.test(
  'whoever is killed while a journal is taken over, each charge of it is in the ledger once',
  async t => {
    const dir = dirOf(t)
    mkdirSync(join(dir, 'live'))
    const live = join(dir, 'live')
    const { ledger, worker, state } = open(live)
    state.meets = 'away'
    let requests = 0
    const endpoints = Array.from({ length: 30 }, (_, i) => ({
      ...payer,
      endpoint: { ...payer.endpoint, id: `ep_${i}` },
    }))
    for (let i = 0; i < 90; i += 1) {
      await worker.charging.charge(endpoints[(i * 7) % 30]!, 'eth_call', i, 0, NOW).commit()
      requests += i
      if (i === 40) await worker.handOver()
    }
    const whole = { calls: 90, requests, refusals: 0 }
    // As the disk is when both are killed.
    let now = join(dir, 'now')
    cpSync(live, now, { recursive: true })
    await worker.close()
    ledger.close()
    for (let kills = 1; ; kills += 1) {
      const next = openUsageDatabase(now)
      const round = takeOverLeft(next, now, FILE, 0)
      const most = next.taken(FILE) + 7
      let isDone = false
      while (next.taken(FILE) < most && !isDone) {
        isDone = round.next().done === true
        t.strictSame(sums(now), whole, 'whoever reads from outside sees each once')
      }
      if (isDone) {
        next.close()
        t.ok(kills > 2, `${kills} processes`)
        break
      }
      const copy = join(dir, `behind-${kills}`)
      cpSync(now, copy, { recursive: true })
      round.return()
      next.close()
      now = copy
    }
    t.strictSame(journalsIn(now), [])
    t.strictSame(sums(now), whole)
  },
)

t.test('what is sent of a journal that is being taken over is not taken besides', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge } = open(dir)
  state.meets = 'away'
  const sent: Batch[] = []
  state.sent = batch => sent.push(batch)
  charge(3)
  await worker.charging
    .charge({ ...payer, endpoint: { ...payer.endpoint, id: 'ep_2' } }, 'eth_call', 2, 0, NOW)
    .commit()
  t.notOk(await worker.handOver())
  const begun: boolean[] = []
  const round = takeOverLeft(ledger, dir, FILE, 0, () => begun.push(true))
  while (ledger.taken(FILE) === 0) round.next()
  t.strictSame([begun, ledger.taken(FILE)], [[true], 1], 'half of it is there')
  while (round.next().done !== true);
  t.strictSame(sums(dir), { calls: 2, requests: 5, refusals: 0 })
  await worker.close()
  ledger.close()
})

t.test('a batch that comes while the journal is read is not taken once more from there', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge } = open(dir)
  state.meets = 'away'
  const sent: Batch[] = []
  state.sent = batch => sent.push(batch)
  await charge(3).commit()
  t.notOk(await worker.handOver())
  await charge(4).commit()
  const round = takeOverLeft(ledger, dir, FILE, 0)
  round.next()
  for (const { file, place, usage } of sent) ledger.take(file, place, usage)
  while (round.next().done !== true);
  t.strictSame(sums(dir), { calls: 2, requests: 7, refusals: 0 })
  await worker.close()
  ledger.close()
})

t.test(
  'bug: a ledger that took nothing at that moment left the journal of a killed worker where it was',
  async t => {
    const dir = dirOf(t)
    const { ledger, worker, state, charge } = open(dir)
    state.meets = 'away'
    await charge(3).commit()
    const told: string[] = []
    const left = new LeftJournals(ledger, dir, (_, error) => told.push(error.message), 0)
    ledger.database.exec('PRAGMA query_only = ON')
    for (let time = 0; time < 3; time += 1) await left.look()
    t.match(told, [/readonly/], 'it is reported once')
    ledger.database.exec('PRAGMA query_only = OFF')
    await left.look()
    t.strictSame([journalsIn(dir), sums(dir)], [[], { calls: 1, requests: 3, refusals: 0 }])
    await left.close()
    await worker.close()
    ledger.close()
  },
)

t.test('a stop in the middle leaves the rest to the next process', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge } = open(dir)
  state.meets = 'away'
  await charge(3).commit()
  const left = new LeftJournals(ledger, dir, (_, error) => t.error(error))
  const looking = left.look()
  await Promise.all([t.rejects(looking, /nobody takes over/), left.close()])
  t.strictSame([journalsIn(dir), sums(dir)], [[FILE], { calls: 1, requests: 3, refusals: 0 }])
  const next = new LeftJournals(ledger, dir, (_, error) => t.error(error))
  await next.look()
  t.strictSame([journalsIn(dir), sums(dir)], [[], { calls: 1, requests: 3, refusals: 0 }])
  await next.close()
  await worker.close()
  ledger.close()
})

t.test('those who ask while a batch is under way share the next, which has what they charged', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge } = open(dir)
  charge(1)
  const first = worker.handOver()
  await Promise.resolve()
  charge(2)
  t.strictSame(await Promise.all([first, worker.handOver(), worker.handOver()]), [true, true, true])
  t.ok(state.batches.length <= 2)
  t.strictSame(sums(dir), { calls: 2, requests: 3, refusals: 0 })
  await worker.close()
  ledger.close()
})

t.test('whatever a killed worker had committed is in the ledger once, whenever it was killed', async t => {
  const step = fc.oneof(
    fc.record({ do: fc.constant('charge' as const), units: fc.integer({ min: 1, max: 9 }) }),
    fc.record({ do: fc.constant('giveBack' as const), units: fc.integer({ min: 1, max: 9 }) }),
    fc.record({
      do: fc.constant('handOver' as const),
      meets: fc.constantFrom<Meets>('takes', 'away', 'silent'),
    }),
  )
  let round = 0
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 25 }), async steps => {
      const dir = join(t.testdirName, String((round += 1)))
      t.testdir({ [String(round)]: { live: {} } })
      const live = join(dir, 'live')
      const { ledger, worker, state, charge } = open(live)
      const committed = { calls: 0, requests: 0 }
      for (const one of steps)
        if (one.do === 'handOver') {
          state.meets = one.meets
          await worker.handOver()
        } else {
          const each = charge(one.units)
          await each.commit()
          if (one.do === 'giveBack') await each.giveBack()
          else {
            committed.calls += 1
            committed.requests += one.units
          }
        }
      // As the disk is when both are killed.
      const after = join(dir, 'after')
      cpSync(live, after, { recursive: true })
      await worker.close()
      ledger.close()
      const next = openUsageDatabase(after)
      for (const file of journalsIn(after)) takeOver(next, after, file)
      next.close()
      const { calls, requests } = sums(after)
      return calls === committed.calls && requests === committed.requests && journalsIn(after).length === 0
    }),
    { seed: 20_261_123, numRuns: 25 },
  )
})

t.test('a journal that was taken over, and not removed, is not taken over again', t => {
  const dir = dirOf(t)
  const ledger = openUsageDatabase(dir)
  const database = openUsageDatabase(dir, FILE)
  const worker = new HandedOver(
    database,
    FILE,
    eventsTo(() => undefined),
    () => Promise.reject(new Error('away')),
  )
  worker.charging.charge(payer, 'eth_call', 5, 0, NOW)
  worker.charging.writer.flush()
  const { counters, lastPlace } = unfoldedNow(database.database)
  ledger.take(FILE, lastPlace, counters)
  takeOver(ledger, dir, FILE)
  t.strictSame(sums(dir), { calls: 1, requests: 5, refusals: 0 })
  t.strictSame(
    readdirSync(dir).filter(name => name.startsWith(FILE)),
    [],
    'its files are gone',
  )
  t.equal(ledger.taken(FILE), 0, 'nothing is remembered of it')
  database.close()
  ledger.close()
  t.end()
})

t.test('a reader outside sees each charge once, before and behind its taking', async t => {
  const dir = dirOf(t)
  const { ledger, worker, state, charge } = open(dir)
  const both = (): unknown => {
    const reader = openUsageReader(dir)
    const totals = reader.totals('acc_1').get('ep_1')
    const [row] = reader.rows({ from: 0, to: NOW, by: 'day' })
    const oldest = reader.oldest()
    reader.close()
    return [totals, { calls: row?.calls, requests: row?.requests }, oldest]
  }
  const hour = NOW / 1000 - ((NOW / 1000) % 3600)
  const seen = (calls: number, requests: number): unknown => [{ calls, requests }, { calls, requests }, hour]
  await charge(1).commit()
  t.strictSame(both(), seen(1, 1), 'in the journal alone')
  state.meets = 'silent'
  await worker.handOver()
  await charge(2).commit()
  t.strictSame(both(), seen(2, 3), 'taken, and still in the journal')
  state.meets = 'takes'
  await worker.handOver()
  await charge(4).commit()
  t.strictSame(both(), seen(3, 7))
  await worker.close()
  t.strictSame(both(), seen(3, 7), 'in the ledger alone')
  ledger.close()
})

t.test('bug: a read of usage failed while a worker made its journal', async t => {
  const dir = dirOf(t)
  const { ledger, worker, charge } = open(dir)
  await charge(1).commit()
  writeFileSync(join(dir, 'journal-2-00000000000000bb.db'), '')
  const reader = openUsageReader(dir)
  t.strictSame(reader.totals('acc_1').get('ep_1'), { calls: 1, requests: 1 })
  reader.close()
  await worker.close()
  ledger.close()
})

t.test('bug: a journal that its worker removed just then was reported as unreadable', async t => {
  const dir = dirOf(t)
  const ledger = openUsageDatabase(dir)
  const journals = ['journal-1-00000000000000aa', 'journal-2-00000000000000bb']
  for (const name of journals) {
    writeFileSync(join(dir, `${name}.db`), '')
    // A lock that cannot be opened, as one that is removed while it is.
    mkdirSync(join(dir, `${name}.lock`))
  }
  const told: string[] = []
  const left = new LeftJournals(ledger, dir, file => {
    told.push(file)
    rmSync(join(dir, `${journals[1]!}.db`))
  })
  await left.look()
  await left.close()
  t.strictSame(told, [`${journals[0]!}.db`])
  ledger.close()
})

t.test('bug: looking for journals that were left stood still for each worker that lives', async t => {
  const dir = dirOf(t)
  const ledger = openUsageDatabase(dir)
  const own = Array.from({ length: 40 }, (_, slot) => openOwnJournal(dir, slot))
  const begin = performance.now()
  const left = new LeftJournals(ledger, dir, (file, error) => t.error(error, file))
  await left.look()
  const took = performance.now() - begin
  t.equal(journalsIn(dir).length, 40, 'none of them was taken over')
  // It was a tenth of a second for each: four seconds.
  t.ok(took < 2_000, `it took ${took} ms`)
  await left.close()
  for (const journal of own) {
    journal.database.close()
    journal.leave(true)
  }
  ledger.close()
})
