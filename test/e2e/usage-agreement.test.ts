import t from 'tap'
import { randomInt } from 'node:crypto'
import { Agent } from 'node:http'
import { openLedgerSocket } from '../support/ledger-socket.ts'
import { Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { total, type ClientCall, type Use } from '../support/client-ledger.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { LoadedAccess, mixedCalls, mixedMethods } from '../support/ledger-load.ts'
import { sumByMethod, timedByMethod, type UsageRow } from '../support/metered.ts'
import { metric } from '../support/metrics.ts'
import { error, html, result, type Handler } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { until } from '../support/until.ts'
import { printedUsage, samples } from '../support/usage-views.ts'

/** Calls over all clients; notifications of subscriptions come on top. */
const calls = Number(process.env['CALLS'] ?? 10_000)

const random = new Random(randomInt(2 ** 32))
const fine: Handler = result('"ok"')
/** Answers one way, and now and then another. */
const sometimes = (chance: number, other: Handler, otherwise: Handler = fine): Handler => {
  return (...call) => (random.below(chance) === 0 ? other : otherwise)(...call)
}
const later = (ms: number): Handler => {
  return (request, response) => {
    setTimeout(() => void fine(request, response), ms)
  }
}
const reverted = error('{"code":-32000,"message":"execution reverted"}')
const nodes = await Promise.all(Array.from({ length: 4 }, () => startSocketNode(t, { chainId: 1001 })))
const [flaky, sound, slow, quick] = nodes as [
  (typeof nodes)[0],
  (typeof nodes)[0],
  (typeof nodes)[0],
  (typeof nodes)[0],
]
for (const node of nodes) node.on('test_sick', html).on('test_sometimes', sometimes(3, reverted))
flaky.on('web3_sha3', sometimes(5, html))
slow.on('web3_sha3', sometimes(40, later(2_000)))
quick.on('web3_sha3', fine)

const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001, public: true }, beta: { chainId: 1001, hedge: true } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: flaky.url, ws: flaky.wsUrl, capabilities: allCapabilities },
    { id: 'alpha-b', network: 'alpha', http: sound.url, capabilities: allCapabilities },
    { id: 'beta-a', network: 'beta', http: slow.url, ws: slow.wsUrl, capabilities: allCapabilities },
    { id: 'beta-b', network: 'beta', http: quick.url, capabilities: allCapabilities, priority: 2 },
  ],
  methods: mixedMethods.replace('web3_sha3: {', 'web3_sha3: { hedge: true,'),
  plans: {
    // Its rate is spent at once, and its quota half a second later.
    small: {
      tiers: ['any'],
      rate: { perSecond: 5, burst: 20 },
      quota: { requests: 22, every: '30d' },
      maxBatch: 5,
      ws: { connections: 5, subscriptions: 5 },
    },
  },
})

const rich = await createAccess(gateway, 'paid', 'alpha')
const poor = await createAccess(gateway, 'small', 'alpha')
const methods = [
  ...mixedCalls,
  ...mixedCalls,
  ['test_sick', []],
  ['test_sometimes', []],
  ['nope', []],
  ['eth_getBlockReceipts', []],
] as const
const limited = { methods, limited: true }
const riches = [rich, await rich.another('beta')].map(access => new LoadedAccess(access, random, { methods }))
const poors = [poor, await poor.another('beta')].map(access => new LoadedAccess(access, random, limited))
const loads = [...riches, ...poors]
const open = new LoadedAccess(new Access(gateway, 'alpha', 'public'), random, { methods })

let left = calls
/** The next message of an endpoint, until all calls are spent. */
function next(load: LoadedAccess): ClientCall[] | undefined {
  if (left <= 0) return undefined
  const message = load.message()
  left -= message.length
  return message
}

t.test('a run of all kinds of calls', async t => {
  t.comment(`seed ${random.seed}`)
  const agent = new Agent({ keepAlive: true })
  const work: Promise<unknown>[] = []
  for (const load of [...loads, open])
    for (let i = 0; i < 6; i++)
      work.push(
        (async () => {
          for (let sent = next(load); sent !== undefined; sent = next(load)) await load.post(sent, agent)
        })(),
      )
  for (const load of loads)
    for (let i = 0; i < 2; i++) {
      const socket = await (riches.includes(load)
        ? load.subscribed()
        : openLedgerSocket(load.access, load.ledger))
      work.push(
        (async () => {
          for (let sent = next(load); sent !== undefined; sent = next(load)) await socket.send(sent)
          await socket.close()
        })(),
      )
    }
  const heads = setInterval(() => {
    for (const node of nodes) node.push('eth_subscribe', '{"number":"0x1"}')
  }, 20)
  await Promise.all(work)
  // One in many is slow, and only where others are not it is hedged.
  const more = Array.from({ length: 20 }, () => riches[1]!)
  await until('slow calls are hedged', async () => {
    await Promise.all(more.map(load => load.post(load.message(), agent)))
    return quick.count('web3_sha3') > 0
  })
  clearInterval(heads)
  agent.destroy()
  const reasons = new Set(loads.flatMap(({ ledger }) => [...ledger.refusals.keys()]))
  for (const reason of [
    'upstream_error',
    'method_not_found',
    'invalid_params',
    'plan_required',
    'rate_limited',
    'quota_exhausted',
    'batch_too_large',
  ])
    t.ok(reasons.has(reason), `some calls were refused as ${reason}`)
  t.ok(flaky.calls.length + sound.calls.length > calls / 10, 'the nodes were busy')
  for (const { ledger } of [loads[0]!, loads[1]!])
    t.ok(ledger.told.has('eth_subscription'), 'heads were told')
})

/** Methods that are answered here, and notifications. */
const UNTIMED = new Set(['eth_chainId', 'eth_subscription'])
const used = (uses: ReadonlyMap<string, Use>) =>
  Object.fromEntries([...uses].sort(([a], [b]) => a.localeCompare(b)))
const sum = <T>(rows: readonly T[], of: (row: T) => number) => rows.reduce((all, row) => all + of(row), 0)

t.test('every place that tells usage tells what the clients counted, by endpoint and method', async t => {
  // Errors and refusals follow within a second.
  const refusals = sum(loads, ({ ledger }) => sum([...ledger.refusals.values()], n => n))
  const printed = await until('the ledger has all refusals', async () => {
    const views = await printedUsage(gateway)
    return Object.values(views).every(rows => sum(rows, row => row.refusals) >= refusals) && views
  })
  let counted = 0
  for (const { access, ledger } of loads) {
    const name = `${access.slug} of ${access === rich || access.accountId === rich.accountId ? 'rich' : 'poor'}`
    const want = used(ledger.told)
    const { rows: hours } = await access.managed('service_usage', [
      { by: 'hour', endpointId: access.endpointId },
    ])
    const { rows: days } = await access.managed('service_usage', [
      { by: 'day', endpointId: access.endpointId },
    ])
    const views: Record<string, UsageRow[]> = { hours, days }
    for (const [view, rows] of Object.entries(printed))
      views[view] = rows.filter(({ endpointId }) => endpointId === access.endpointId)
    for (const [view, rows] of Object.entries(views)) {
      t.strictSame(used(sumByMethod(rows)), want, `${view}: ${name}`)
      t.equal(
        sum(rows, row => row.errors),
        sum([...ledger.errors.values()], n => n),
        `${view}: errors of ${name}`,
      )
      t.equal(
        sum(rows, row => row.refusals),
        sum([...ledger.refusals.values()], n => n),
        `${view}: refusals of ${name}`,
      )
    }
    t.strictSame(await access.usage(), total(ledger.told), `the listing: ${name}`)
    const timed = [...(await timedByMethod(access))].filter(([, { calls }]) => calls > 0)
    const unlike = timed.filter(([method, one]) => one.timed !== (UNTIMED.has(method) ? 0 : one.calls))
    t.strictSame(unlike, [], `how long upstreams took is known of each call that had one: ${name}`)
    counted += sum(timed, ([, one]) => one.timed)
  }
  t.ok(counted > calls / 20, `${counted} calls had one`)
})

t.test('Prometheus counts the same, the public route apart', async t => {
  const requests = await samples(gateway, 'tollgate_requests_total')
  const called = await samples(gateway, 'tollgate_calls_total')
  for (const { access, ledger } of loads) {
    const plan = access.accountId === rich.accountId ? 'paid' : 'small'
    const own = ({ labels }: (typeof requests)[0]) =>
      labels['network'] === access.slug && labels['plan'] === plan
    t.equal(
      sum(requests.filter(own), ({ value }) => value),
      total(ledger.told).requests,
      `${plan} ${access.slug}`,
    )
    const byMethod = (outcomes: readonly string[]) => {
      const counts: Record<string, number> = {}
      for (const { labels, value } of called.filter(own))
        if (outcomes.includes(labels['outcome']!) && labels['method'] !== 'other')
          counts[labels['method']!] = (counts[labels['method']!] ?? 0) + value
      return counts
    }
    const told = [...ledger.told].filter(([method]) => method !== 'eth_subscription')
    t.strictSame(
      byMethod(['ok', 'error']),
      Object.fromEntries(told.map(([method, use]) => [method, use.calls])),
    )
    t.strictSame(byMethod(['error']), Object.fromEntries(ledger.errors))
    const refused = called.filter(sample => own(sample) && sample.labels['outcome'] === 'refused')
    t.equal(
      sum(refused, ({ value }) => value),
      sum([...ledger.refusals.values()], n => n),
    )
  }
  t.equal(
    await metric(gateway, 'tollgate_requests_total', { plan: 'public' }),
    0,
    'nobody pays for the public route',
  )
  const ofPublic = { plan: 'public' }
  const answered =
    (await metric(gateway, 'tollgate_calls_total', { ...ofPublic, outcome: 'ok' })) +
    (await metric(gateway, 'tollgate_calls_total', { ...ofPublic, outcome: 'error' }))
  t.equal(answered, total(open.ledger.told).calls, 'its calls are counted')
  const reasons = [...loads, open].flatMap(({ ledger }) => [...ledger.refusals])
  const byReason: Record<string, number> = {}
  for (const [reason, times] of reasons) byReason[reason] = (byReason[reason] ?? 0) + times
  const told = await samples(gateway, 'tollgate_refusals_total')
  const counted: Record<string, number> = {}
  for (const { labels, value } of told) {
    const reason = labels['reason']!
    counted[reason] = (counted[reason] ?? 0) + value
  }
  t.strictSame(counted, byReason)
  const nobodys = told.filter(({ labels }) => labels['network'] === '' || labels['plan'] === '')
  t.strictSame(nobodys, [], 'each is of a network and a plan')
  t.equal(
    await metric(gateway, 'tollgate_ws_notifications_total'),
    sum(loads, ({ ledger }) => ledger.told.get('eth_subscription')?.calls ?? 0),
  )
})
