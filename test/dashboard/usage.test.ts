import t from 'tap'
import type { UsageRow } from '../../dashboard/src/api/types.ts'
import { toCsv } from '../../dashboard/src/usage/csv.ts'
import { COLOURS, seriesOf, stack } from '../../dashboard/src/usage/series.ts'
import { spanOf, stepsOf } from '../../dashboard/src/usage/span.ts'
import { sumOf } from '../../dashboard/src/usage/sums.ts'

const row = (given: Partial<UsageRow>): UsageRow => ({
  ...{ time: 0, endpointId: 'ep_1', network: 'alpha', method: 'eth_call' },
  ...{ calls: 1, requests: 1, errors: 0, refusals: 0 },
  ...given,
})

t.test('a span ends with the step of now and holds whole steps', t => {
  const now = Date.UTC(2025, 2, 5, 14, 20) / 1000
  const hours = spanOf({ days: 1, by: 'hour' }, now)
  t.strictSame(hours, { from: Date.UTC(2025, 2, 4, 15) / 1000, to: Date.UTC(2025, 2, 5, 15) / 1000 })
  t.equal(stepsOf(hours.from, hours.to, 'hour').length, 24)
  const days = spanOf({ days: 30, by: 'day' }, now)
  t.equal(days.to, Date.UTC(2025, 2, 6) / 1000)
  t.equal(stepsOf(days.from, days.to, 'day').length, 30)
  t.equal(stepsOf(days.from, days.to, 'day').at(-1), Date.UTC(2025, 2, 5) / 1000)
  t.end()
})

t.test('sums tell rate-limited calls only where the gateway does', t => {
  const rows = [row({ calls: 2, requests: 6, errors: 1, refusals: 4 }), row({ refusals: 1 })]
  t.strictSame(sumOf(rows), { calls: 3, requests: 7, errors: 1, rateLimited: null })
  const told = [...rows, row({ refusalsByReason: { rate_limited: 3, invalid_params: 9 } })]
  t.equal(sumOf(told).rateLimited, 3)
  t.end()
})

t.test('series are ranked, the small ones are one, and stacked they add up', t => {
  const many = Array.from({ length: 12 }, (_, i) =>
    row({ method: `m${i}`, requests: i + 1, time: (i % 2) * 3600 }),
  )
  const series = seriesOf(many, [0, 3600], ({ method }) => method)
  t.strictSame(
    series.map(({ label, colour }) => `${label}:${colour}`),
    ['m11:0', 'm10:1', 'm9:2', 'm8:3', 'm7:4', 'm6:5', `6 others:${COLOURS}`],
  )
  t.strictSame(series[0]!.requests, [0, 12])
  t.strictSame(series[1]!.requests, [11, 0])
  const total = many.reduce((sum, { requests }) => sum + requests, 0)
  t.equal(
    series.reduce((sum, one) => sum + one.sum.requests, 0),
    total,
    'nothing is lost',
  )
  const [top] = stack(series)
  t.equal(top![0]! + top![1]!, total, 'the first is drawn over all others')
  t.end()
})

t.test('what the gateway has summed up already is among the others, however large', t => {
  const top = Array.from({ length: COLOURS + 1 }, (_, i) => row({ method: `m${i}`, requests: 10 - i }))
  const series = seriesOf([...top, row({ requests: 99, other: 5 })], [0], ({ method }) => method)
  t.strictSame(
    series.map(({ label, colour, requests }) => `${label}:${colour}:${requests[0]}`),
    ['m0:0:10', 'm1:1:9', 'm2:2:8', 'm3:3:7', 'm4:4:6', 'm5:5:5', `6 others:${COLOURS}:${99 + 4}`],
  )
  t.end()
})

t.test('a CSV keeps names apart from commas, quotes and formulas', t => {
  const rows = [
    row({ time: 1_741_183_200, endpointId: 'ep_1', calls: 2, requests: 6, errors: 1, refusals: 3 }),
  ]
  const line = (name: string) => toCsv(rows, () => name).split('\r\n')
  t.equal(line('x')[0], 'time,endpoint_id,endpoint,network,method,calls,requests,errors,refusals')
  t.equal(line('plain')[1], '2025-03-05T14:00:00Z,ep_1,plain,alpha,eth_call,2,6,1,3')
  t.match(line('a, "b"')[1], /ep_1,"a, ""b""",alpha/)
  t.match(line('=HYPERLINK("http://x")')[1], /,"'=HYPERLINK\(""http:\/\/x""\)",/)
  t.match(line('@x')[1], /,'@x,/)
  t.end()
})
