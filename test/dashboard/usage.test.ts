import t from 'tap'
import type { UsageRow } from '../../dashboard/src/api/types.ts'
import { choiceOf } from '../../dashboard/src/usage/choice.ts'
import { toCsv } from '../../dashboard/src/usage/csv.ts'
import { usedUpAt } from '../../dashboard/src/usage/forecast.ts'
import { isTime, shown } from '../../dashboard/src/usage/measures.ts'
import { COLOURS, groupsOf, overTime, seriesOf, stack } from '../../dashboard/src/usage/series.ts'
import { spanBefore, spanOf, stepsOf } from '../../dashboard/src/usage/span.ts'
import { sumOf, withoutNode } from '../../dashboard/src/usage/sums.ts'

const row = (given: Partial<UsageRow>): UsageRow => ({
  time: 0,
  endpointId: 'ep_1',
  network: 'alpha',
  method: 'eth_call',
  calls: 1,
  requests: 1,
  errors: 0,
  refusals: 0,
  ...given,
})

const at = (year: number, month: number, day = 1, hour = 0, minute = 0): number =>
  Date.UTC(year, month - 1, day, hour, minute) / 1000
const now = at(2025, 3, 5, 14, 20)

t.test('a span ends with the hour or day that runs, a finished one with its end', t => {
  t.strictSame(spanOf('24h', now), { from: at(2025, 3, 4, 15), to: at(2025, 3, 5, 15) })
  t.strictSame(spanOf('today', now), { from: at(2025, 3, 5), to: at(2025, 3, 5, 15) })
  t.strictSame(spanOf('yesterday', now), { from: at(2025, 3, 4), to: at(2025, 3, 5) })
  t.strictSame(spanOf('30d', now), { from: at(2025, 2, 4), to: at(2025, 3, 6) })
  t.strictSame(spanOf('month', now), { from: at(2025, 3), to: at(2025, 3, 6) })
  t.strictSame(spanOf('last-month', now), { from: at(2025, 2), to: at(2025, 3) })
  t.strictSame(spanOf('last-month', at(2025, 1, 9)), { from: at(2024, 12), to: at(2025, 1) })
  t.strictSame(spanOf('custom', now, '2025-02-27', '2025-03-01'), {
    from: at(2025, 2, 27),
    to: at(2025, 3, 2),
  })
  t.strictSame(spanOf('custom', now, '2025-03-01', '2030-01-01'), { from: at(2025, 3), to: at(2025, 3, 6) })
  for (const [first, last] of [
    ['', ''],
    ['2025-02-31x', '2025-03-01'],
    ['2025-03-02', '2025-03-01'],
    ['2026-01-01', '2026-02-01'],
  ])
    t.strictSame(spanOf('custom', now, first, last), spanOf('7d', now), `${first} to ${last}`)
  t.equal(stepsOf(spanOf('24h', now), 'hour').length, 24)
  t.equal(stepsOf(spanOf('30d', now), 'day').at(-1), at(2025, 3, 5))
  t.end()
})

t.test('months are compared with months, anything else with as long before', t => {
  t.strictSame(spanBefore('last-month', spanOf('last-month', now)), { from: at(2025, 1), to: at(2025, 2) })
  t.strictSame(spanBefore('month', spanOf('month', now)), { from: at(2025, 2), to: at(2025, 2, 6) })
  // 31 days of March are more than February has.
  const march = spanOf('month', at(2025, 3, 31, 12))
  t.strictSame(spanBefore('month', march), { from: at(2025, 2), to: at(2025, 3) })
  t.strictSame(spanBefore('24h', spanOf('24h', now)), { from: at(2025, 3, 3, 15), to: at(2025, 3, 4, 15) })
  t.end()
})

t.test('bug: the last 7 days by the day were 8 days', t => {
  const { span } = choiceOf({ range: '7d', by: 'day' }, now)
  t.strictSame(span, { from: at(2025, 2, 27), to: at(2025, 3, 6) })
  t.equal(stepsOf(span, 'day').length, 7)
  t.strictSame(choiceOf({ range: '7d' }, now).span, spanOf('7d', now), 'by the hour up to the hour that runs')
  t.end()
})

t.test('the URL says what is shown, and what makes no sense is as usual', t => {
  t.match(choiceOf({}, now), {
    range: '24h',
    by: 'hour',
    split: 'endpoint',
    measure: 'requests',
    compare: false,
    endpointId: '',
    network: '',
    method: '',
  })
  t.match(choiceOf({ range: '30d' }, now), { by: 'day' })
  t.match(choiceOf({ range: '30d', by: 'hour' }, now), { by: 'hour' })
  t.match(
    choiceOf({ range: '90d', by: 'hour' }, now),
    { by: 'day' },
    'the gateway has no 90 days by the hour',
  )
  const days = choiceOf({ range: '24h', by: 'day' }, now)
  t.strictSame(
    days.span,
    { from: at(2025, 3, 4), to: at(2025, 3, 6) },
    'bug: days began at another hour than their rows',
  )
  t.match(choiceOf({ split: 'reason', show: 'calls' }, now), { measure: 'refusals' })
  t.match(choiceOf({ from: '2025-02-01', to: '2025-02-28' }, now), { range: 'custom', by: 'day' })
  t.match(choiceOf({ range: 'x', split: 'y', show: 'z', by: 'w', compare: 'v' }, now), choiceOf({}, now))
  t.end()
})

t.test('sums add up, with reasons where rows have them', t => {
  const rows = [
    row({
      calls: 2,
      requests: 6,
      errors: 1,
      refusals: 4,
      upstreamMs: 30,
      latency: { p50: 7.5, p95: 19.5, buckets: { 10: 1, 20: 1 } },
    }),
    row({ latency: { p50: 15, p95: 19.5, buckets: { 20: 1 } } }),
    row({ refusals: 12, refusalsByReason: { rate_limited: 3, invalid_params: 9 } }),
  ]
  t.strictSame(sumOf(rows), {
    calls: 4,
    requests: 8,
    errors: 1,
    refusals: 16,
    upstreamMs: 30,
    latency: [0, 0, 0, 1, 2, 0, 0, 0, 0, 0, 0, 0, 0],
    reasons: [
      ['invalid_params', 9],
      ['rate_limited', 3],
    ],
  })
  t.end()
})

t.test('series are ranked, the small ones are one, and stacked they add up', t => {
  const many = Array.from({ length: 12 }, (_, i) =>
    row({ method: `m${i}`, requests: i + 1, time: (i % 2) * 3600 }),
  )
  const series = seriesOf(many, [0, 3600], 'method', 'requests')
  t.strictSame(
    series.map(({ id, colour }) => `${id}:${colour}`),
    ['m11:0', 'm10:1', 'm9:2', 'm8:3', 'm7:4', 'm6:5', `null:${COLOURS}`],
  )
  t.strictSame(series[0]!.values, [0, 12])
  t.strictSame(series[1]!.values, [11, 0])
  const [top] = stack(series)
  const total = many.reduce((sum, { requests }) => sum + requests, 0)
  t.equal(top![0]! + top![1]!, total, 'nothing is lost, and the first is drawn over all others')
  t.end()
})

t.test('what the gateway has summed up already is among the others, however large', t => {
  const top = Array.from({ length: COLOURS + 1 }, (_, i) => row({ method: `m${i}`, requests: 10 - i }))
  const series = seriesOf([...top, row({ requests: 99, other: 5 })], [0], 'method', 'requests')
  t.strictSame(
    series.map(({ id, values }) => `${id}:${values[0]}`),
    ['m0:10', 'm1:9', 'm2:8', 'm3:7', 'm4:6', 'm5:5', `null:${99 + 4}`],
  )
  const groups = groupsOf([row({ requests: 99, other: 5 }), ...top], 'method', 'requests')
  t.strictSame(groups.at(0)?.id, 'm0')
  t.match(groups.at(-1), { id: null, groups: 5, sum: { requests: 99 } })
  t.end()
})

t.test('a mean is a mean over all calls of a step, not of means', t => {
  const rows = [row({ calls: 1, upstreamMs: 100 }), row({ calls: 9, upstreamMs: 0, method: 'b' })]
  t.strictSame(overTime(rows, [0, 3600], 'latency'), [10, 0])
  t.end()
})

t.test('percentiles are those of all calls of a step, and nothing where none is known', t => {
  const of = (buckets: Readonly<Record<string, number>>, time: number) =>
    row({ time, latency: { p50: 1, p95: 1, buckets } })
  const rows = [
    of({ 5: 9 }, 0),
    of({ 5: 1, 1000: 10 }, 0),
    of({ 2: 1 }, 3600),
    row({ time: 7200, latency: null }),
  ]
  t.strictSame(overTime(rows, [0, 3600, 7200], 'p50'), [5, 1.5, 0])
  t.strictSame(overTime(rows, [0, 3600, 7200], 'p95'), [950, 2, 0])
  const sum = sumOf(rows)
  t.strictSame([shown('p50', sum), shown('p95', sum), shown('p50', sumOf([]))], ['4.9 ms', '948 ms', '–'])
  t.strictSame([isTime('p95'), isTime('calls')], [true, false])
  t.match(choiceOf({ show: 'p95' }, now), { measure: 'p95' })
  t.end()
})

t.test('calls that waited for no node are those without a time at one, where times are known', t => {
  const kept = row({ calls: 3, upstreamMs: 0, latency: null })
  const asked = row({ calls: 2, upstreamMs: 9, latency: { p50: 4, p95: 5, buckets: { 5: 2 } } })
  const old = row({ calls: 7, upstreamMs: 70, latency: null })
  t.strictSame(
    [[kept], [asked], [kept, asked], [old], []].map(rows => withoutNode(sumOf(rows))),
    [3, 0, 3, null, 0],
  )
  t.end()
})

t.test('a quota is used up when the pace of a day says so, unless it resets before', t => {
  const quota = { requests: 1000, used: 400, resetsAt: now + 10 * 86_400 }
  t.equal(usedUpAt(quota, 200, now), now + 3 * 86_400)
  t.equal(usedUpAt(quota, 50, now), null)
  t.equal(usedUpAt(quota, 0, now), null)
  t.end()
})

t.test('a CSV has what is shown, and keeps names apart from commas, quotes and formulas', t => {
  const rows = [
    row({
      time: 1_741_183_200,
      endpointId: 'ep_1',
      calls: 2,
      requests: 6,
      errors: 1,
      refusals: 3,
      upstreamMs: 9,
      latency: { p50: 3.5, p95: 4.9, buckets: { 5: 2 } },
    }),
  ]
  const line = (name: string) => toCsv(rows, 'endpoint', () => name).split('\r\n')
  t.equal(line('x')[0], 'time,endpoint_id,endpoint,calls,requests,errors,refusals,upstream_ms,p50_ms,p95_ms')
  t.equal(line('plain')[1], '2025-03-05T14:00:00Z,ep_1,plain,2,6,1,3,9,3.5,4.9')
  t.match(toCsv([row({ latency: null })], 'method', String), /,eth_call,1,1,0,0,0,,\r\n$/)
  t.match(line('a, "b"')[1], /ep_1,"a, ""b""",2/)
  t.match(line('=HYPERLINK("http://x")')[1], /,"'=HYPERLINK\(""http:\/\/x""\)",/)
  t.match(line('@x')[1], /,'@x,/)
  t.equal(
    toCsv(rows, 'method', String),
    'time,method,calls,requests,errors,refusals,upstream_ms,p50_ms,p95_ms\r\n2025-03-05T14:00:00Z,eth_call,2,6,1,3,9,3.5,4.9\r\n',
  )
  t.equal(
    toCsv([row({ reason: 'rate_limited', refusals: 4 })], 'reason', String),
    'time,reason,refusals\r\n1970-01-01T00:00:00Z,rate_limited,4\r\n',
  )
  t.end()
})
