import t from 'tap'
import { callService } from '../../src/service/call.ts'
import type { UsageDetail, UsageQuery, UsageRow } from '../../src/usage/types.ts'
import { account, deps, endpoint, invalid } from './support/deps.ts'

const NOW = 1_750_000_000
const DAY = 86_400
const shown: Omit<UsageRow, 'accountId'> = {
  time: 1_749_999_600,
  endpointId: 'ep_1',
  network: 'ethereum',
  method: 'eth_call',
  calls: 3,
  requests: 3,
  errors: 1,
  refusals: 2,
}
const row: UsageRow & UsageDetail = { ...shown, accountId: 'acc_1', bytesOut: 400, upstreamMs: 30 }

t.test('service_usage', t => {
  const queries: UsageQuery[] = []
  const ports = deps({
    accounts: {
      endpointLabel: id => {
        if (id === 'ep_none') return null
        return {
          accountId: id === 'ep_2' ? 'acc_2' : 'acc_1',
          network: 'bsc',
          name: 'x',
          deleted: id === 'ep_gone',
        }
      },
    },
    usage: { rows: query => (queries.push(query), [row]) },
    now: NOW,
  })
  const ask = (params: unknown) => callService('service_usage', params, { account, endpoint }, ports)

  t.test('returns the rows of the account', async t => {
    const outcome = await ask([{ by: 'hour', from: NOW - 7200, to: NOW - 3600 }])
    const { accountId } = row
    const expected = { from: NOW - 7200, to: NOW - 3600, by: 'hour', rows: [shown] }
    t.strictSame(outcome, { result: expected })
    t.equal(JSON.stringify(outcome), JSON.stringify({ result: expected }), 'the order of the fields too')
    t.strictSame(queries.pop(), { accountId, from: NOW - 7200, to: NOW - 3600, by: 'hour' })
  })

  t.test('says more of each row when asked', async t => {
    const detailed = deps({
      usage: {
        rows: () => [row, { ...row, method: 'eth_getLogs' }],
        refusals: () => [
          { ...row, reason: 'plan_required', refusals: 1 },
          { ...row, reason: 'rate_limited', refusals: 1 },
        ],
      },
      now: NOW,
    })
    const outcome = await callService(
      'service_usage',
      [{ by: 'hour', detail: true }],
      { account, endpoint },
      detailed,
    )
    const more = { bytesOut: 400, upstreamMs: 30 }
    t.match(outcome, {
      result: {
        rows: [
          { ...shown, ...more, refusalsByReason: { plan_required: 1, rate_limited: 1 } },
          { ...shown, ...more, method: 'eth_getLogs', refusalsByReason: {} },
        ],
      },
    })
  })

  t.test('takes the last 24 hours, or 30 days', async t => {
    t.match(await ask([{ by: 'hour' }]), { result: { from: NOW - DAY, to: NOW, by: 'hour' } })
    t.match(await ask({ by: 'day' }), { result: { from: NOW - 30 * DAY, to: NOW, by: 'day' } })
    t.match(await ask([{ by: 'hour', to: NOW - DAY }]), { result: { from: NOW - 2 * DAY, to: NOW - DAY } })
    t.match(await ask([{ by: 'hour', to: 10 }]), { result: { from: 0, to: 10 } })
    t.match(await ask([{ by: 'day', from: NOW - 366 * DAY }]), { result: { from: NOW - 366 * DAY, to: NOW } })
  })

  t.test('one endpoint of the account, deleted ones too', async t => {
    for (const endpointId of ['ep_1', 'ep_gone']) {
      queries.length = 0
      t.match(await ask([{ by: 'hour', endpointId }]), { result: { rows: [{}] } })
      t.match(queries, [{ accountId: 'acc_1', endpointId }])
    }
    queries.length = 0
    for (const endpointId of ['ep_2', 'ep_none']) {
      t.match(await ask([{ by: 'hour', endpointId }]), {
        error: { code: -32004, message: 'Endpoint not found' },
      })
    }
    t.strictSame(queries, [], 'the ledger was not asked')
  })

  t.test('says what is wrong', async t => {
    queries.length = 0
    t.strictSame(await ask([]), invalid('by is required'))
    t.strictSame(await ask([{ by: 'week' }]), invalid('by must be "hour" or "day"'))
    for (const from of ['1', 1.5, -1, 2 ** 60, null]) {
      t.strictSame(await ask([{ by: 'day', from }]), invalid('from must be a whole number of Unix seconds'))
    }
    t.strictSame(await ask([{ by: 'day', from: 5, to: 5 }]), invalid('from must be before to'))
    t.strictSame(await ask([{ by: 'day', from: NOW + 1 }]), invalid('from must be before to'))
    t.strictSame(await ask([{ by: 'day', to: 0 }]), invalid('from must be before to'))
    const apart = (by: string, days: number) =>
      invalid(`by ${by}, from and to may be at most ${days} days apart`)
    t.strictSame(await ask([{ by: 'hour', from: NOW - 31 * DAY - 1 }]), apart('hour', 31))
    t.strictSame(await ask([{ by: 'day', from: NOW - 366 * DAY - 1 }]), apart('day', 366))
    t.strictSame(await ask([{ by: 'day', endpointId: 1 }]), invalid('endpointId must be a string'))
    t.strictSame(queries, [])
  })

  t.end()
})
