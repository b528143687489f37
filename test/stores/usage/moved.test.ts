/** Usage of an endpoint that moves to another network: what was used before stays where it was, within the same hour too. */
import { join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { Payer } from '../../../src/ports/limits.ts'
import { rollUp } from '../../../src/stores/sqlite/usage/roll-up.ts'
import { answer } from '../../../src/stores/sqlite/usage/sums/answer.ts'
import { Scan } from '../../../src/stores/sqlite/usage/sums/scan.ts'
import type { Column } from '../../../src/ports/ledger.ts'
import { admitted, open, payer, reading } from './parts.ts'

const on = (network: string): Payer => ({ ...payer, endpoint: { ...payer.endpoint, network } })
const DAY = 86_400_000
const MIDNIGHT = Date.UTC(2026, 9, 1)
const everything = { from: 0, to: 2 ** 40, by: 'hour' } as const

/** Calls and refusals by network, as other processes and as `service_usage` read them. */
function told(dir: string): unknown {
  const database = new DatabaseSync(join(dir, 'journal.db'), { readOnly: true })
  const sums = (columns: readonly Column[]): Record<string, unknown>[] => {
    const query = {
      accountId: 'acc_1',
      endpointId: null,
      network: null,
      method: null,
      ...everything,
      groupBy: columns,
      detail: false,
      top: null,
      after: null,
    }
    return JSON.parse(answer(query, new Scan(database, query, () => false)).rows) as Record<string, unknown>[]
  }
  try {
    return {
      rows: reading(dir)
        .detailedRows(everything)
        .map(({ network, method, calls, refusalsByReason }) => [network, method, calls, refusalsByReason]),
      byNetwork: sums(['network']).map(({ network, calls, refusals }) => [network, calls, refusals]),
      byReason: sums(['network', 'reason']).map(({ network, refusals }) => [network, refusals]),
      all: sums([]).map(({ calls, refusals }) => [calls, refusals]),
    }
  } finally {
    database.close()
  }
}

const moved = {
  rows: [
    ['eth', 'm', 2, { rate_limited: 1 }],
    ['sol', 'm', 1, { rate_limited: 2 }],
  ],
  byNetwork: [
    ['eth', 2, 1],
    ['sol', 1, 2],
  ],
  byReason: [
    ['eth', 1],
    ['sol', 2],
  ],
  all: [[3, 3]],
}

t.test('calls of one method in one hour are booked where they went', async t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  const use = async (network: string, hour: number, calls: number, refusals: number): Promise<void> => {
    const at = MIDNIGHT + hour * 3_600_000
    for (let call = 0; call < calls; call += 1)
      t.ok(await meter.committed(admitted(meter.admit(on(network), 'm', 1, at))))
    for (let call = 0; call < refusals; call += 1) meter.refused(on(network), 'm', 'rate_limited', at)
  }
  await use('eth', 7, 2, 0)
  await use('sol', 7, 1, 0)
  const { rows, byNetwork } = told(dir) as typeof moved
  t.strictSame(
    [rows, byNetwork],
    [
      moved.rows.map(([network, method, calls]) => [network, method, calls, {}]),
      [
        ['eth', 2, 0],
        ['sol', 1, 0],
      ],
    ],
    'from the journal',
  )
  await use('eth', 7, 0, 1)
  await use('sol', 7, 0, 2)
  ledger.fold()
  t.strictSame(told(dir), moved, 'from the tables')

  const { database } = openUsageDatabase(dir)
  while (rollUp(database, MIDNIGHT + 120 * DAY) > 0);
  database.close()
  t.strictSame(told(dir), moved, 'as a day')
  t.equal(reading(dir).rows(everything)[0]?.time, MIDNIGHT / 1000)
  ledger.close()
})
