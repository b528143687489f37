import t from 'tap'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'
import type { Payer } from '../../../src/ports/limits.ts'
import { rollUp } from '../../../src/stores/sqlite/usage/roll-up.ts'
import { NOW, admitted, open, payer, plan, reading } from './parts.ts'

t.test('hours of over 90 days ago become days, and no sum changes', t => {
  const dir = t.testdir()
  const { ledger, meter } = open(dir)
  const hour = 3_600_000
  const day = 24 * hour
  const today = Math.floor(NOW / day) * day
  const quiet: Payer = { ...payer, plan: { ...plan, quota: null, rate: null } }
  for (const daysAgo of [200, 91, 90, 1])
    for (let h = 0; h < 24; h += 1) {
      admitted(meter.admit(quiet, 'm', 3, today - daysAgo * day + h * hour))
      meter.refused(quiet, 'm', 'rate_limited', today - daysAgo * day + h * hour)
      ledger.fold()
    }
  const all = { from: 0, to: NOW / 1000 } as const
  const byDay = (): unknown => [
    reading(dir).rows({ ...all, by: 'day' }),
    reading(dir).refusals({ ...all, by: 'day' }),
    ledger.totals('acc_1').get('ep_1'),
  ]
  const before = byDay()
  const { database } = openUsageDatabase(dir)
  let steps = 0
  while (rollUp(database, NOW) > 0) steps += 1
  database.close()
  t.ok(steps > 0)
  t.strictSame(byDay(), before)
  const hours = reading(dir)
    .rows({ ...all, by: 'hour' })
    .map(({ time, calls }) => [(today / 1000 - time) / 86_400, calls])
  t.strictSame(hours.slice(0, 2), [
    [200, 24],
    [91, 24],
  ])
  t.equal(hours.length, 2 + 24 + 24, 'the ninetieth day and those after it have their hours')
  ledger.close()
  t.end()
})
