import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { Visitor } from '../../dashboard/support/visitor.ts'
import type { Access } from '../../support/access.ts'
import { createAccess } from '../../support/accounts.ts'
import { startGateway } from '../../support/gateway.ts'
import { startNode } from '../../support/scripted-node.ts'
import { fillUsage, rowsOf } from '../../support/usage-rows.ts'

const DAY = 86_400
const now = Math.floor(Date.now() / 1000)
const end = now - (now % 3_600)
const month = { from: end - 31 * DAY, to: end }
const year = { from: end - 366 * DAY, to: end }

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const owner = await createAccess(gateway, 'free', 'alpha')
const stranger = await createAccess(gateway, 'paid', 'alpha')
const filled = {
  accountId: owner.accountId,
  endpointIds: Array.from({ length: 100 }, (_, i) => (i === 0 ? owner.endpointId : `ep_filled_${i}`)),
  methods: 20,
  hours: 100,
  until: end,
}
await gateway.stop()
fillUsage(join(gateway.dir, 'data'), [filled])
await gateway.start()

/** Makes a call every 20 ms until `work` is over; gives how long the slowest took, in milliseconds. */
async function slowestDuring(access: Access, work: Promise<unknown>): Promise<number> {
  let [over, slowest] = [false, 0]
  const ended = work.finally(() => (over = true))
  await access.call('eth_chainId')
  while (!over) {
    const begin = performance.now()
    await access.call('eth_chainId')
    slowest = Math.max(slowest, performance.now() - begin)
    await pause(20)
  }
  await ended
  return slowest
}

/** The slowest such call while nobody asks: what else this machine does holds calls up too. */
const quiet = await slowestDuring(stranger, pause(1_500))

const isQuick = (slowest: number): [boolean, string] => [
  slowest < 2 * quiet + 200,
  `the slowest call of another account took ${slowest.toFixed()} ms, at rest ${quiet.toFixed()} ms`,
]

t.test('an owner who looks at all usage stops nobody else', async t => {
  const asked = Promise.all(
    [
      { by: 'hour', ...month },
      { by: 'day', ...year },
      { by: 'day', ...year, detail: true },
    ].map(params => owner.managed('service_usage', [params])),
  )
  t.ok(...isQuick(await slowestDuring(stranger, asked)))
  for (const { rows } of await asked) t.ok(rows.length > 0)
})

t.test('twenty connections that ask for everything, by key and by session, stop nobody else', async t => {
  const sums = [
    { by: 'hour', ...month },
    { by: 'hour', ...month, groupBy: ['time', 'endpoint'] },
    { by: 'day', ...year, groupBy: ['endpoint', 'method'], detail: true },
    { by: 'hour', ...month, groupBy: ['time', 'method'], top: 12 },
  ]
  const visitor = new Visitor(gateway, { host: 'example.test' })
  await visitor.signIn(owner.key)
  const ask = (n: number): Promise<any> => {
    const params = sums[n % sums.length]!
    return n % 2 === 0 ? owner.call('service_usage', [params]) : visitor.call('service_usage', params)
  }
  const asked = Promise.all(Array.from({ length: 20 }, (_, n) => ask(n)))
  t.ok(...isQuick(await slowestDuring(stranger, asked)))
  const replies = await asked
  const answered = replies.filter(({ result }) => result !== undefined)
  t.ok(answered.length > 0, `${answered.length} were answered`)
  for (const { error } of replies)
    if (error !== undefined) t.match(error.data.reason, /^(rate_limited|usage_timeout)$/)
})

t.test('sums are made by the store, and add up to the rows', async t => {
  const ask = (params: object) => owner.managed('service_usage', [{ by: 'day', ...month, ...params }])
  const total = rowsOf(filled)
  const [{ calls, requests }] = (await ask({ groupBy: [] })).rows
  // Management calls and calls of strangers are not among them.
  t.strictSame({ calls, requests }, { calls: total, requests: total })

  const byMethod = (await ask({ groupBy: ['method'] })).rows
  t.equal(byMethod.length, filled.methods)
  t.strictSame(Object.keys(byMethod[0]), ['method', 'calls', 'requests', 'errors', 'refusals'])
  t.strictSame([...new Set(byMethod.map((row: any) => row.calls as number))], [total / filled.methods])

  const top = (await ask({ groupBy: ['endpoint', 'time'], top: 3 })).rows
  const first = top.filter((row: any) => row.time === top[0].time)
  t.equal(first.length, 4)
  t.strictSame(Object.keys(first[3]), ['time', 'other', 'calls', 'requests', 'errors', 'refusals'])
  t.equal(first[3].other, 97)
  t.equal(first[3].calls, first[0].calls * 97)

  const detailed = (await ask({ groupBy: ['network'], detail: true })).rows
  t.match(detailed, [{ network: 'alpha', bytesOut: 100 * total, upstreamMs: total, refusalsByReason: {} }])
  t.strictSame(detailed[0].latency.buckets, { 5: total })
})

t.test(
  'a reply has at most 10 000 rows, and its cursor leads to the next, whatever is used meanwhile',
  async t => {
    const hours = 8
    const range = { from: end - hours * 3_600, to: end }
    const params = { by: 'hour', ...range }
    const seen = new Set<string>()
    let cursor: string | undefined
    let [calls, rows, pages] = [0, 0, 0]
    do {
      const reply: { rows: any[]; cursor?: string } = await owner.managed('service_usage', [
        { ...params, ...(cursor === undefined ? {} : { cursor }) },
      ])
      t.ok(reply.rows.length <= 10_000)
      t.match(reply, range)
      rows += reply.rows.length
      for (const row of reply.rows) {
        seen.add(`${row.time} ${row.endpointId} ${row.method}`)
        calls += Number(row.calls)
      }
      pages += 1
      cursor = reply.cursor
      t.equal((await owner.call('eth_chainId')).error, undefined)
    } while (cursor !== undefined)
    t.ok(pages >= 2, `${pages} pages`)
    t.equal(calls, rowsOf({ ...filled, hours }))
    t.equal(seen.size, rows, 'no row came twice')
  },
)

t.test('what was answered before the question is in the answer', async t => {
  const fresh = await owner.another('alpha')
  const from = Math.floor(Date.now() / 1000) - 60
  for (let call = 1; call <= 20; call += 1) {
    await fresh.call('eth_chainId')
    const { rows } = await owner.managed('service_usage', [
      { by: 'hour', from, endpointId: fresh.endpointId, to: from + 7_200, groupBy: ['method'] },
    ])
    t.match(rows, [{ method: 'eth_chainId', calls: call }])
  }
})
