import { randomInt } from 'node:crypto'
import t from 'tap'
import { openUsageDatabase } from '../../src/usage/database.ts'
import { Ledger } from '../../src/usage/ledger.ts'
import { Meter, type Admission, type Payer } from '../../src/usage/meter.ts'
import { openUsageReader } from '../../src/usage/reader.ts'
import type { UsageQuery, UsageReader } from '../../src/usage/types.ts'
import { Random } from '../support/random.ts'

const hour = 3_600_000
const NOW = Date.UTC(2026, 11, 31, 23, 59, 30)

function payerOf(account: number, endpoint: number): Payer {
  return {
    account: { id: `acc_${account}`, createdAt: 0 },
    endpoint: { id: `ep_${account}_${endpoint}`, network: endpoint === 0 ? 'eth' : 'sol' },
    plan: {
      name: 'free',
      tiers: ['any'],
      rate: null,
      quota: { requests: 1_000_000, every: 'month' },
      maxBatch: 10,
      ws: { connections: 1, subscriptions: 1 },
    },
    endpointRate: null,
  }
}

/** What a reader says to a query, and of the totals of its account. */
function told(reader: Pick<UsageReader, 'rows' | 'totals'>, query: UsageQuery): unknown {
  const totals = [...reader.totals(query.accountId ?? 'acc_0')].sort(([a], [b]) => (a < b ? -1 : 1))
  return { rows: reader.rows(query).map(row => ({ ...row })), totals }
}

t.test(
  'the gateway, which holds the cells, and other processes, which read the journal, say the same',
  async t => {
    const random = new Random(randomInt(2 ** 32))
    t.comment(`seed ${random.seed}`)
    const dir = t.testdir()
    const events = { committed: () => undefined, failed: (error: Error) => t.fail(error.message) }
    const ledger = new Ledger(openUsageDatabase(dir), events)
    const meter = new Meter(ledger)
    const reader = openUsageReader(dir)
    const flying: Admission[] = []
    let unfolded = 0
    for (let step = 0; step < 400; step += 1) {
      for (let call = 0; call < 5; call += 1) {
        const payer = payerOf(random.below(3), random.below(2))
        const at = NOW - random.below(50) * hour
        const admission = meter.admit(payer, random.pick(['a', 'b', 'c']), random.pick([0, 1, 3, 20]), at)
        if ('reason' in admission) throw new Error(admission.reason)
        flying.push(admission)
      }
      if (random.below(3) === 0) void meter.giveBack(flying.splice(random.below(flying.length), 1)[0]!)
      if (random.below(4) === 0) meter.refused(payerOf(0, 0), 'refused', 'plan_required', NOW)
      const fold = random.below(10) === 0
      if (fold) ledger.fold()
      const accountId = random.pick(['acc_0', 'acc_1', 'acc_2', undefined])
      const from = NOW / 1000 - random.below(180_000)
      const query: UsageQuery = {
        ...(accountId === undefined ? {} : { accountId }),
        ...(random.below(2) === 0 ? {} : { endpointId: `ep_${random.below(3)}_0` }),
        ...{ from, to: from + random.below(180_000), by: random.pick(['hour', 'day']) },
      }
      unfolded += fold ? 0 : ledger.rows(query).length
      // The gateway first: it commits what waits before it says anything.
      const [inside, outside] = [told(ledger, query), told(reader, query)]
      t.strictSame(inside, outside, `step ${step}`)
    }
    t.ok(unfolded > 1_000, 'rows were compared while the journal held charges')
    for (const admission of flying.splice(0, 10)) await meter.giveBack(admission)
    const all: UsageQuery = { from: 0, to: NOW / 1000 + 1, by: 'day' }
    t.strictSame(told(ledger, all), told(reader, all))
    reader.close()
    ledger.close()
  },
)
