/** Days beside the hours: whatever happens between two slices of making them, sums over days are those over hours. */
import { randomInt } from 'node:crypto'
import { cpSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Column, SumsPage, SumsQuery } from '../../../src/ports/ledger.ts'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { newCounter } from '../../../src/stores/sqlite/usage/counters.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { Days } from '../../../src/stores/sqlite/usage/days.ts'
import type { Usage } from '../../../src/stores/sqlite/usage/fold.ts'
import { rollUp } from '../../../src/stores/sqlite/usage/roll-up.ts'
import { answer } from '../../../src/stores/sqlite/usage/sums/answer.ts'
import { Scan } from '../../../src/stores/sqlite/usage/sums/scan.ts'
import { Random } from '../../support/random.ts'
import { NOW, open } from './parts.ts'
import type { Parts } from './parts.ts'

const HOUR = 3600
const DAY = 86_400
const TODAY = Math.floor(NOW / 1000 / DAY) * DAY
const everything: SumsQuery = {
  accountId: null,
  endpointId: null,
  network: null,
  method: null,
  from: 0,
  to: TODAY + DAY,
  by: 'day',
  groupBy: [],
  detail: false,
  top: null,
  after: null,
}

/** What a query is answered, from days where there are some, and from hours alone. */
function answers(dir: string, query: SumsQuery): readonly [SumsPage, SumsPage] {
  const database = new DatabaseSync(join(dir, 'journal.db'), { readOnly: true })
  const ask = (): SumsPage => answer(query, new Scan(database, query, () => false))
  try {
    const fromDays = ask()
    database.exec("CREATE TEMP TABLE day_progress AS SELECT 0 AS until, 0 AS next, '' AS endpoint, 0 AS at")
    return [fromDays, ask()]
  } finally {
    database.close()
  }
}

/** How far days are made. */
function progress(dir: string): Readonly<Record<string, unknown>> {
  const database = new DatabaseSync(join(dir, 'journal.db'), { readOnly: true })
  const row = database.prepare('SELECT * FROM day_progress').get()
  database.close()
  return { ...(row as Readonly<Record<string, unknown>>) }
}

/** Somebody's usage of some hour: an endpoint moves between networks, and its account between plans. */
function anyUsage(random: Random, hour: number): Usage {
  const endpoint = random.below(6)
  const [account, network] = [`acc_${endpoint % 2}`, random.pick(['eth', 'sol'])]
  const key = { account, network, plan: random.pick(['free', 'paid']), endpoint: `ep_${endpoint}` }
  const reasons = new Map(
    ['rate_limited', 'invalid_params', 'plan_required']
      .filter(() => random.below(4) === 0)
      .map(reason => [reason, 1 + random.below(9)]),
  )
  const calls = random.below(5)
  return {
    ...newCounter({ ...key, method: random.pick(['a', 'b', 'c']), hour, window: 0 }),
    calls,
    requests: calls * random.pick([1, 3, 75]),
    errors: random.below(2),
    reasons,
    refusals: [...reasons.values()].reduce((sum, count) => sum + count, 0),
    bytesOut: random.below(1e6),
    upstreamMs: random.below(1e6) / 1000,
    latency: random.below(2) === 0 ? null : Array.from({ length: 13 }, () => random.below(3)),
  }
}

/** An hour near a midnight, of lately or of long ago, or any other. */
function anyHour(random: Random, now: number): number {
  const day = now - (now % DAY) - random.pick([0, 0, 1, 1, 2, 3, 30, 88, 89, 90, 91, 92, 200]) * DAY
  return day + random.pick([-1, 0, 1, random.below(24)]) * HOUR
}

function anyQuery(random: Random, now: number): SumsQuery {
  const from = anyHour(random, now) + random.pick([0, 0, 1, random.below(HOUR)])
  const to =
    from + random.pick([1, HOUR, DAY - HOUR, DAY, 2 * DAY, 95 * DAY, 300 * DAY, random.below(9 * DAY) + 1])
  const all: readonly Column[] = ['time', 'account', 'endpoint', 'network', 'method', 'reason']
  const groupBy = all.filter(() => random.below(3) === 0)
  const some = (value: string): string | null => (random.below(4) === 0 ? value : null)
  return {
    accountId: some('acc_0'),
    endpointId: some('ep_1'),
    network: some('eth'),
    method: some('b'),
    from,
    to,
    by: random.below(4) === 0 && to - from < 31 * DAY ? 'hour' : 'day',
    groupBy,
    after: null,
    detail: !groupBy.includes('reason') && random.below(2) === 0,
    top: random.below(2) === 0 ? null : 1 + random.below(4),
  }
}

t.test('whatever is folded, made, rolled up and killed, days say what hours do', t => {
  const random = new Random(randomInt(2 ** 32))
  t.comment(`seed ${random.seed}`)
  const dir = t.testdir({ live: {} })
  let live = join(dir, 'live')
  let parts: Parts = open(live)
  let days = new Days(parts.database.database)
  let [now, batches, kills, made] = [TODAY - 20 * DAY, 0, 0, 0]
  const work = [
    // Of the past, as the journal of a killed process brings it, and of now.
    () => {
      const hours = Array.from({ length: 1 + random.below(20) }, () => anyHour(random, now)).filter(
        hour => hour <= now,
      )
      const usage = [...hours, now - (now % HOUR)].map(hour => anyUsage(random, hour))
      t.ok(parts.database.take(`journal-${random.below(3)}.db`, (batches += 1), usage))
    },
    // What is in the journal only is counted too.
    () => {
      const { account, endpoint, network, plan } = anyUsage(random, 0)
      const owner = { account: { id: account, plan, createdAt: 0 }, endpoint: { id: endpoint, network } }
      const at = (now - random.pick([0, HOUR, DAY])) * 1000
      parts.ledger.charging.charge(owner, 'a', 2, 0, at)
      parts.ledger.charging.refused(owner, 'a', 'rate_limited', at)
      parts.ledger.totals('')
    },
    () => void parts.ledger.foldInSlices(0).next(),
    () => (made += days.make(now * 1000, 0) ? 1 : 0),
    () => (made += days.make(now * 1000, 0) ? 1 : 0),
    () => rollUp(parts.database.database, now * 1000, 0),
    () => (now = Math.min(NOW / 1000, now + random.pick([HOUR, 7 * HOUR, DAY]))),
    () => {
      if (random.below(5) > 0) return
      const copy = join(dir, `copy${(kills += 1)}`)
      cpSync(live, copy, { recursive: true })
      parts.ledger.close()
      live = copy
      parts = open(live)
      days = new Days(parts.database.database)
    },
  ]
  let compared = 0
  const compare = (step: string): void => {
    const query = anyQuery(random, now)
    const [fromDays, fromHours] = answers(live, query)
    compared += fromHours.rows === '[]' ? 0 : 1
    if (JSON.stringify(fromDays) !== JSON.stringify(fromHours))
      t.strictSame(JSON.parse(fromDays.rows), JSON.parse(fromHours.rows), `${step}: ${JSON.stringify(query)}`)
  }
  for (let batch = 0; batch < 10; batch += 1) work[0]!()
  for (let round = 0; round < 400; round += 1) {
    random.pick(work)()
    compare(`round ${round}`)
  }
  while (days.make(NOW, 0)) compare('made to the end')
  for (let i = 0; i < 200; i += 1) compare('at the end')
  t.match(progress(live), { until: TODAY, next: TODAY, endpoint: '' })
  t.ok(made > 15 && kills > 0 && compared > 200, `${made} slices, ${kills} kills, ${compared} answers`)
  parts.ledger.close()
  t.strictSame(parts.failures, [])
  t.end()
})

/** Ten endpoints that were used in each hour of three days. */
function fill({ database }: Parts, hours = 72): void {
  const counters = Array.from({ length: 10 * hours }, (_, i) => {
    const key = { account: 'acc_1', endpoint: `ep_${i % 10}`, network: 'eth', method: 'm', plan: 'free' }
    const counter = newCounter({ ...key, hour: TODAY - (1 + Math.floor(i / 10)) * HOUR, window: 0 })
    return { ...counter, calls: 1, requests: 2, refusals: 3, reasons: new Map([['rate_limited', 3]]) }
  })
  t.ok(database.take('journal-1.db', 1, counters))
}

t.test('a process that is killed while days are made goes on where they end', t => {
  const dir = t.testdir({ live: {} })
  const parts = open(join(dir, 'live'))
  fill(parts)
  const days = new Days(parts.database.database)
  const seen = new Set<string>()
  let kills = 0
  for (let left = true; left;) {
    left = days.make(NOW, 0)
    const { endpoint, at } = progress(join(dir, 'live'))
    t.notOk(seen.has(`${String(endpoint)} ${String(at)}`), 'no slice is made twice')
    seen.add(`${String(endpoint)} ${String(at)}`)
    const copy = join(dir, `copy${(kills += 1)}`)
    cpSync(join(dir, 'live'), copy, { recursive: true })
    const again = openUsageDatabase(copy)
    new Days(again.database).make(NOW)
    again.close()
    const [fromDays, fromHours] = answers(copy, { ...everything, groupBy: ['time'], detail: true })
    t.strictSame(fromDays, fromHours)
    t.match(progress(copy), { until: TODAY, next: TODAY })
  }
  t.ok(kills > 30, `${kills} kills`)
  parts.ledger.close()
  t.end()
})

t.test('spans of whole days are read from days, and what is asked by the hour from hours', t => {
  const dir = t.testdir()
  const parts = open(dir)
  fill(parts)
  new Days(parts.database.database).make(NOW)
  parts.database.database.exec('UPDATE usage_day SET calls = 1000; UPDATE refusals_day SET count = 5000')
  const calls = (query: Partial<SumsQuery>): unknown =>
    (
      JSON.parse(answers(dir, { ...everything, ...query })[0].rows) as { calls?: number; refusals: number }[]
    ).map(({ calls, refusals }) => calls ?? refusals)
  const [from, to] = [TODAY - 3 * DAY, TODAY]
  t.strictSame(calls({ from, to }), [30 * 1000])
  t.strictSame(calls({ from, to, by: 'hour', groupBy: ['endpoint'], top: 1 }), [3 * 1000, 9 * 3 * 1000])
  t.strictSame(calls({ from, to, groupBy: ['reason'] }), [30 * 5000])
  t.strictSame(calls({ from: from + HOUR, to: to - HOUR }), [10 * 1000 + 2 * 10 * 23])
  t.strictSame(calls({ from, to, groupBy: ['time'] }), [10_000, 10_000, 10_000])
  t.strictSame(
    calls({ from, to, by: 'hour', groupBy: ['time'] }),
    Array.from({ length: 72 }, () => 10),
  )
  t.strictSame(calls({ from, to: from + DAY - 1 }), [10 * 24])
  parts.ledger.close()
  t.end()
})

t.test('a span that begins in a day being rolled up has the same reasons, from days as from hours', t => {
  const dir = t.testdir()
  const parts = open(dir)
  const day = TODAY - 95 * DAY
  const key = { account: 'acc_1', endpoint: 'ep_1', network: 'eth', method: 'm', plan: 'free', window: 0 }
  const reasons = new Map([
    ['invalid_params', 2],
    ['rate_limited', 3],
  ])
  const hours = [day + HOUR, day + DAY].map(hour => ({
    ...newCounter({ ...key, hour }),
    refusals: 5,
    reasons,
  }))
  t.ok(parts.database.take('journal-1.db', 1, hours))
  new Days(parts.database.database).make(NOW)
  t.equal(rollUp(parts.database.database, NOW, 0), 2, 'an hour of usage, and one of its two reasons')
  const [fromDays, fromHours] = answers(dir, { ...everything, from: day + HOUR, detail: true })
  t.strictSame(fromDays, fromHours)
  t.match(JSON.parse(fromDays.rows), [
    { refusals: 5, refusalsByReason: { invalid_params: 2, rate_limited: 6 } },
  ])
  parts.ledger.close()
  t.end()
})

t.test('what comes to a day that is made is added to it, and a day that runs is not made', t => {
  const dir = t.testdir()
  const parts = open(dir)
  fill(parts, 24)
  const { database } = parts.database
  const days = new Days(database)
  t.notOk(days.make(NOW))
  const key = { account: 'acc_1', endpoint: 'ep_3', network: 'eth', method: 'm', plan: 'paid', window: 0 }
  const late = [TODAY - HOUR, TODAY].map(hour => ({ ...newCounter({ ...key, hour }), calls: 5, requests: 5 }))
  t.ok(parts.database.take('journal-2.db', 1, late))
  t.strictSame(
    database
      .prepare("SELECT hour, calls FROM usage_day WHERE endpoint = 'ep_3'")
      .all()
      .map(row => ({ ...(row as object) })),
    [{ hour: TODAY - DAY, calls: 29 }],
  )
  t.notOk(days.make(NOW))
  t.equal(parts.database.database.prepare('SELECT 1 FROM usage_day WHERE hour >= ?').get(TODAY), undefined)
  parts.ledger.close()
  t.end()
})
