/** How long upstreams took: counted with each call, folded, rolled up and read with everything else that the ledger keeps of it. */
import { join } from 'node:path'
import t from 'tap'
import type { ShownLatency } from '../../../src/ports/latency.ts'
import type { Column } from '../../../src/ports/ledger.ts'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import { rollUp } from '../../../src/stores/sqlite/usage/roll-up.ts'
import { answer } from '../../../src/stores/sqlite/usage/sums/answer.ts'
import { Scan } from '../../../src/stores/sqlite/usage/sums/scan.ts'
import { admitted, NOW, open, payer, reading } from './parts.ts'
import type { Parts } from './parts.ts'

const DAY = 86_400_000
const everything = { from: 0, to: 2 ** 40, by: 'hour' } as const

interface Row {
  readonly method?: string
  readonly calls: number
  readonly latency: ShownLatency | null
}

/** Sums of a directory as `service_usage` reads them. */
function sums(dir: string, groupBy: readonly Column[], top: number | null = null): readonly Row[] {
  const database = new DatabaseSync(join(dir, 'journal.db'), { readOnly: true })
  const query = {
    accountId: 'acc_1',
    endpointId: null,
    network: null,
    method: null,
    ...everything,
    groupBy,
    detail: true,
    top,
    after: null,
  }
  try {
    return JSON.parse(answer(query, new Scan(database, query, () => false)).rows) as readonly Row[]
  } finally {
    database.close()
  }
}

/** Serves a call; `ms` is what its upstream took, 0 without one. */
async function call({ meter }: Parts, method: string, ms: number, now = NOW): Promise<void> {
  const one = admitted(
    meter.admit({ ...payer, plan: { ...payer.plan, quota: null, rate: null } }, method, 1, now),
  )
  if (!(await meter.committed(one))) throw new Error('it was not committed')
  meter.settle(one, { error: false, bytesOut: 1, upstreamMs: ms })
}

t.test('each call that an upstream was waited for is counted once, and sums are made of counts', async t => {
  const dir = t.testdir()
  const parts = open(dir)
  for (const ms of [3, 4, 30]) await call(parts, 'a', ms)
  parts.ledger.fold()
  for (const ms of [4.4, 9_000]) await call(parts, 'a', ms)
  for (const ms of [0, 700]) await call(parts, 'b', ms)
  for (const ms of [0, 0]) await call(parts, 'local', ms)
  parts.ledger.fold()
  t.strictSame(
    sums(dir, ['method']).map(({ method, calls, latency }) => [method, calls, latency]),
    [
      ['a', 5, { p50: 4.5, p95: 5000, buckets: { 5: 3, 50: 1, more: 1 } }],
      ['b', 2, { p50: 750, p95: 975, buckets: { 1000: 1 } }],
      ['local', 2, null],
    ],
  )
  const all = { 5: 3, 50: 1, 1000: 1, more: 1 }
  t.strictSame(sums(dir, [])[0]?.latency?.buckets, all)
  t.strictSame(
    sums(dir, ['method'], 1).map(({ latency }) => latency?.buckets),
    [{ 5: 3, 50: 1, more: 1 }, { 1000: 1 }],
    'what stands for the others has their sum',
  )
  t.strictSame(
    reading(dir)
      .detailedRows(everything)
      .map(({ method, latency }) => [method, latency?.buckets ?? null]),
    [
      ['a', { 5: 3, 50: 1, more: 1 }],
      ['b', { 1000: 1 }],
      ['local', null],
    ],
  )
  parts.ledger.close()
})

t.test('hours that become days keep their counts', async t => {
  const dir = t.testdir()
  const parts = open(dir)
  const midnight = Math.floor(NOW / DAY) * DAY - 200 * DAY
  for (let hour = 0; hour < 24; hour += 1) await call(parts, 'm', 15, midnight + hour * 3_600_000)
  parts.ledger.fold()
  const before = sums(dir, ['method'])
  const { database } = openUsageDatabase(dir)
  while (rollUp(database, NOW) > 0);
  database.close()
  t.equal(reading(dir).detailedRows(everything).length, 1)
  t.strictSame(sums(dir, ['method']), before)
  t.strictSame(before[0]?.latency?.buckets, { 20: 24 })
  parts.ledger.close()
})

t.test('after a crash there are the counts of the last fold, and every call', async t => {
  const dir = t.testdir()
  const parts = open(dir)
  await call(parts, 'm', 3)
  parts.ledger.fold()
  await call(parts, 'm', 3)
  // A process that is killed does not close its file.
  const again = open(dir)
  t.match(sums(dir, []), [{ calls: 2, upstreamMs: 3, latency: { buckets: { 5: 1 } } }])
  again.ledger.close()
})
