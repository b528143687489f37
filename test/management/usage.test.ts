import t from 'tap'
import { callService } from '../../src/management/call.ts'
import { MAX_ROWS } from '../../src/ports/ledger.ts'
import type { SumsFailure, SumsPage, SumsQuery } from '../../src/ports/ledger.ts'
import { readUsage } from '../../src/management/usage.ts'
import { account, deps, endpoint, invalid } from './support/deps.ts'

const NOW = 1_750_000_000
const DAY = 86_400
/** The hour and the day that it is. */
const HOUR = NOW - (NOW % 3600)
const TODAY = NOW - (NOW % DAY)
const shown = {
  time: 1_749_999_600,
  endpointId: 'ep_1',
  network: 'ethereum',
  method: 'eth_call',
  calls: 3,
  requests: 3,
  errors: 1,
  refusals: 2,
}
const page: SumsPage = { rows: JSON.stringify([shown]), last: null }

/** The outcome, with a result that came as text as a value. */
async function valueOf(outcome: ReturnType<typeof callService>): Promise<any> {
  const known = (await outcome)!
  return 'json' in known ? { result: JSON.parse(known.json) as unknown } : known
}

t.test('service_usage', t => {
  const queries: SumsQuery[] = []
  let found: SumsPage | SumsFailure = page
  const ports = deps({
    endpoints: {
      label: id => {
        if (id === 'ep_none') return null
        return {
          accountId: id === 'ep_2' ? 'acc_2' : 'acc_1',
          network: 'bsc',
          name: 'x',
          deleted: id === 'ep_gone',
        }
      },
    },
    usage: { sum: query => (queries.push(query), Promise.resolve(found)) },
    now: NOW,
  })
  const ask = (params: unknown) => valueOf(callService('service_usage', params, { account, endpoint }, ports))

  t.test('returns the rows of the account', async t => {
    const outcome = await ask([{ by: 'hour', from: HOUR - 7200, to: HOUR }])
    const expected = { from: HOUR - 7200, to: HOUR, by: 'hour', rows: [shown] }
    t.strictSame(outcome, { result: expected })
    t.equal(JSON.stringify(outcome), JSON.stringify({ result: expected }), 'the order of the fields too')
    t.strictSame(queries.pop(), {
      accountId: 'acc_1',
      network: null,
      method: null,
      endpointId: null,
      from: HOUR - 7200,
      to: HOUR,
      by: 'hour',
      groupBy: ['time', 'endpoint', 'network', 'method'],
      detail: false,
      top: null,
      after: null,
    })
  })

  t.test('asks for sums, the largest, and more of each', async t => {
    await ask([{ by: 'day', groupBy: ['method', 'time'], top: 5, detail: true }])
    t.match(queries.pop(), { groupBy: ['time', 'method'], top: 5, detail: true })
    await ask([{ by: 'day', groupBy: [] }])
    t.strictSame(queries.pop()?.groupBy, [])
    queries.length = 0
    const list = 'must be a list of any of "time", "endpoint", "network", "method", "reason", each once'
    for (const groupBy of ['time', ['day'], ['time', 'time'], null, [null]])
      t.strictSame(await ask([{ by: 'day', groupBy }]), invalid(`groupBy ${list}`))
    for (const top of [0, 1.5, 1_001, '5', null])
      t.strictSame(await ask([{ by: 'day', top }]), invalid('top must be a whole number from 1 to 1000'))
    const range = { by: 'hour', from: NOW - 31 * DAY }
    t.strictSame(
      await ask([{ ...range, groupBy: ['time', 'method'], top: 13 }]),
      invalid(`top is too large for that many steps of time: a reply has at most ${MAX_ROWS} rows`),
    )
    t.strictSame(
      await ask([{ by: 'day', groupBy: ['reason'], detail: true }]),
      invalid('detail does not go with groupBy "reason"'),
    )
    t.strictSame(queries, [])
    await ask([{ ...range, groupBy: ['time', 'method'], top: 12 }])
    await ask([{ ...range, groupBy: ['method'], top: 1_000 }])
    t.equal(queries.length, 2)
  })

  t.test('goes on from a cursor, with the times of the first page', async t => {
    found = { ...page, last: [NOW - 3600, 'ep_1', 'ethereum', 'eth_call'] }
    const cursor: string = (await ask([{ by: 'hour' }])).result.cursor
    t.type(cursor, 'string')
    found = page
    queries.length = 0
    t.notOk('cursor' in (await ask([{ by: 'hour', cursor }])).result)
    const first = { from: HOUR - DAY, to: HOUR + 3600 }
    t.match(queries.pop(), { ...first, after: [NOW - 3600, 'ep_1', 'ethereum', 'eth_call'] })
    await ask([{ by: 'hour', cursor, ...first }])
    t.match(queries.pop(), first)

    const foreign = invalid('cursor is not one of a reply to this query')
    const mangled = cursor.slice(0, 20) + (cursor[20] === 'A' ? 'B' : 'A') + cursor.slice(21)
    for (const other of ['', 'x', mangled, `${cursor}A`, cursor.slice(1), 'a'.repeat(5_000)])
      t.strictSame(await ask([{ by: 'hour', cursor: other }]), foreign)
    for (const change of [
      { by: 'day' },
      { endpointId: 'ep_1' },
      { detail: true },
      { groupBy: ['time'] },
      { top: 3 },
      { from: 5 },
      { to: NOW - 3600 },
    ])
      t.strictSame(await ask([{ by: 'hour', cursor, ...change }]), foreign, JSON.stringify(change))
    const stranger = { account: { ...account, id: 'acc_2' }, endpoint }
    t.strictSame(await callService('service_usage', [{ by: 'hour', cursor }], stranger, ports), foreign)
    t.strictSame(
      await ask([{ by: 'hour', cursor: 5 }]),
      invalid('cursor must be the cursor of an earlier reply'),
    )
    t.strictSame(queries, [])
  })

  t.test('says why there is no answer', async t => {
    found = 'busy'
    t.match(await ask([{ by: 'hour' }]), {
      error: { code: -32005, data: { reason: 'rate_limited', retryAfterMs: Number } },
    })
    found = 'too_long'
    t.match(await ask([{ by: 'hour' }]), { error: { code: -32015, data: { reason: 'usage_timeout' } } })
    found = 'too_many_groups'
    t.match(await ask([{ by: 'hour' }]), { error: { code: -32602, data: { reason: 'invalid_params' } } })
    found = page
  })

  t.test('takes the last 24 hours, or 30 days', async t => {
    t.match(await ask([{ by: 'hour' }]), { result: { from: HOUR - DAY, to: HOUR + 3600, by: 'hour' } })
    t.match(await ask({ by: 'day' }), {
      result: { from: TODAY - 30 * DAY, to: TODAY + DAY, by: 'day' },
    })
    t.match(await ask([{ by: 'hour', to: HOUR - DAY }]), {
      result: { from: HOUR - 2 * DAY, to: HOUR - DAY },
    })
    t.match(await ask([{ by: 'hour', to: 10 }]), { result: { from: 0, to: 3600 } })
    t.match(await ask([{ by: 'day', from: NOW - 366 * DAY }]), {
      result: { from: TODAY - 366 * DAY, to: TODAY + DAY },
    })
  })

  t.test('a row that has a time holds all of that hour or day', async t => {
    const times = async (params: object) => {
      const { from, to } = (await ask([params])).result as { from: number; to: number }
      t.match(queries.pop(), { from, to }, 'the reply has the times that were read')
      return [from, to]
    }
    const middle = { from: NOW - 9 * DAY, to: NOW - 2 * DAY }
    t.strictSame(await times({ by: 'day', ...middle }), [TODAY - 9 * DAY, TODAY - DAY])
    t.strictSame(await times({ by: 'hour', ...middle }), [HOUR - 9 * DAY, HOUR - 2 * DAY + 3600])
    t.strictSame(await times({ by: 'day', ...middle, groupBy: ['time'], top: 3 }), [
      TODAY - 9 * DAY,
      TODAY - DAY,
    ])
    t.strictSame(await times({ by: 'day', ...middle, groupBy: ['method'] }), [middle.from, middle.to])

    const scope = { accountId: null, network: null, method: null }
    const operator = await readUsage({ by: 'day', groupBy: ['time', 'account'] }, scope, ports)
    t.match(
      operator,
      { json: new RegExp(`^{"from":${TODAY - 30 * DAY},"to":${TODAY + DAY},`) },
      'the admin API',
    )

    found = { ...page, last: [TODAY, 'ep_1', 'ethereum', 'eth_call'] }
    const { cursor } = (await ask([{ by: 'day', ...middle }])).result
    found = page
    for (const given of [{}, middle])
      t.match(await ask([{ by: 'day', cursor, ...given }]), {
        result: { from: TODAY - 9 * DAY, to: TODAY - DAY },
      })
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

  t.test('one network, one method', async t => {
    await ask([{ by: 'day', network: 'ethereum', method: 'eth_call' }])
    t.match(queries.pop(), { accountId: 'acc_1', network: 'ethereum', method: 'eth_call' })
    t.strictSame(await ask([{ by: 'day', method: 5 }]), invalid('method must be a string'))
  })

  t.test('says what is wrong', async t => {
    queries.length = 0
    t.strictSame(await ask([]), invalid('by is required'))
    t.strictSame(await ask([{ by: 'week' }]), invalid('by must be "hour" or "day"'))
    for (const from of ['1', 1.5, -1, 2 ** 60, null]) {
      t.strictSame(
        await ask([{ by: 'day', from }]),
        invalid('from must be a whole number of Unix seconds, 253402300799 at most'),
      )
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
