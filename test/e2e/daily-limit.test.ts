/** A limit of an endpoint's day on a real gateway: exact, for whatever spends it, and whatever ends in between. `WORKERS=3` for several processes. */
import t, { type Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run, runJson } from '../support/cli.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'
import { crewOf, kill9 } from '../support/workers.ts'

const workers = Number(process.env['WORKERS'] ?? 1)
const rate = { perSecond: 100_000, burst: 100_000 }
const node = await startSocketNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewAndSubscribe,
  plans: {
    counted: {
      tiers: ['any'],
      rate,
      quota: { requests: 1_000, every: '30d' },
      ws: { connections: 10, subscriptions: 10 },
    },
  },
  gateway: { workers },
})
const ready = () => (workers > 1 ? crewOf(gateway, workers) : Promise.resolve(null))
await ready()
const owner = await createAccess(gateway, 'counted', 'alpha')

const limit = (access: Access, dailyLimit: number | null) =>
  owner.managed('service_updateEndpoint', [{ endpointId: access.endpointId, dailyLimit }])

/** What came of one call: `served`, or the reason and whose limit it is. */
async function call(access: Access): Promise<string> {
  const { result, error } = await access.call('eth_gasPrice')
  return result === undefined ? `${error.data.reason} ${error.data.scope}` : 'served'
}

const SPENT = 'quota_exhausted endpoint'
const calls = (access: Access, count: number) =>
  Promise.all(Array.from({ length: count }, () => call(access)))
const servedOf = (all: readonly string[]) => all.filter(one => one === 'served').length

/** Limits an endpoint that had more to so many requests beyond those used; resolves to the limit. Other processes hear of it within a second. */
async function narrow(access: Access, more: number): Promise<number> {
  if (workers > 1) {
    await limit(access, 1)
    await until('all have heard of it', async () => servedOf(await calls(access, 8 * workers)) === 0)
  }
  const { requests } = await access.usage()
  await limit(access, requests + more)
  return requests + more
}

/** Calls until so many were served, which have to be all: what a process has in reserve comes back to the others within a second. */
async function spend(t: Test, access: Access, expected: number): Promise<void> {
  let served = 0
  await until(`${expected} calls are served`, async () => {
    served += servedOf(await calls(access, 8))
    return served >= expected
  })
  served += servedOf(await calls(access, 8 * workers))
  t.equal(served, expected)
}

t.test('a flood gets the units of the day to the last one, and never more', async t => {
  const access = await owner.another('alpha')
  t.match(await limit(access, 60), { endpointId: access.endpointId, dailyLimit: 60 })
  const all = await calls(access, 200)
  t.strictSame(new Set(all), new Set(['served', SPENT]))
  await spend(t, access, 60 - servedOf(all))
  t.strictSame(await access.usage(), { requests: 60, calls: 60 })

  const refusal = await access.post(message('eth_gasPrice'))
  const midnight = Math.ceil(Date.now() / 86_400_000) * 86_400
  t.equal(refusal.status, 402)
  t.match(JSON.parse(refusal.text).error.data, { scope: 'endpoint', resetsAt: midnight })
  t.equal(await call(owner), 'served', 'the other endpoints of the account go on')
  // What workers hold of a quota to spare counts as used there.
  if (workers === 1)
    t.match(await access.managed('service_account'), { quota: { used: 61 } }, 'what was refused took none')
  const { endpointId } = access
  t.match(await access.managed('service_getEndpoint', [{ endpointId }]), { dailyLimit: 60 })
})

t.test('a limit that is set in the middle of a day counts what all processes charged before', async t => {
  const access = await owner.another('alpha')
  t.equal(servedOf(await calls(access, 20)), 20)
  const first = await narrow(access, 10)
  await spend(t, access, 10)
  t.strictSame(await access.usage(), { requests: first, calls: first })
  await limit(access, null)
  await until('nobody limits it any more', async () => servedOf(await calls(access, 8)) === 8)
  const second = await narrow(access, 10)
  await spend(t, access, 10)
  t.strictSame(await access.usage(), { requests: second, calls: second })
})

t.test('a limit that is lowered or raised holds at once for what is used', async t => {
  const access = await owner.another('alpha')
  await limit(access, 100_000)
  t.equal(servedOf(await calls(access, 50)), 50)
  const first = await narrow(access, 10)
  await spend(t, access, 10)
  await limit(access, first - 20)
  t.strictSame(new Set(await calls(access, 8)), new Set([SPENT]))
  await limit(access, first + 10)
  await spend(t, access, 10)
  t.strictSame(await access.usage(), { requests: first + 10, calls: first + 10 })
})

t.test('what is used of a day is known after a restart and after kill -9', async t => {
  const access = await owner.another('alpha')
  await limit(access, 30)
  t.equal(servedOf(await calls(access, 10)), 10)
  // Several processes take seconds to start: they end the other way alone.
  if (workers === 1) {
    await gateway.stop()
    await gateway.start()
  }
  const crew = await ready()
  t.equal(servedOf(await calls(access, 10)), 10)
  const exited = gateway.exited
  for (const pid of [gateway.pid, ...(crew === null ? [] : [crew.keeper, ...crew.workers])]) kill9(pid)
  await exited
  await gateway.start()
  await ready()
  await spend(t, access, 10)
  t.strictSame(await access.usage(), { requests: 30, calls: 30 })
})

t.test('notifications count, and close with 1008 when the day is used up', async t => {
  const access = await owner.another('alpha')
  await limit(access, 10)
  const client = await openClient(t, access)
  const subscription = await client.subscribe('eth_subscribe', ['newHeads'])
  for (let number = 1; number <= 12; number++)
    node.push('eth_subscribe', `{"number":"0x${number.toString(16)}"}`)
  t.match(await client.closedBy('the daily limit'), { code: 1008, reason: 'quota_exhausted' })
  t.equal(client.notifications(subscription).length, 9, 'one for the subscribing, nine are left')
  t.equal(await call(access), SPENT)
  t.strictSame(await access.usage(), { requests: 10, calls: 10 })
})

t.test('the command line sets a daily limit, and says what is used of it', async t => {
  const access = await owner.another('alpha')
  const { endpointId } = access
  const command = (...args: string[]) => runJson(gateway.dir, args)
  t.match(await command('endpoint', 'limit', endpointId, '--daily', '3'), { endpointId, dailyLimit: 3 })
  await until('the gateway has heard of it', async () => (await call(access)) === SPENT)
  t.equal((await access.usage()).requests >= 3, true)
  const { endpoints } = await command('account', 'show', endpointId)
  t.match(endpoints.at(-1), { endpointId, dailyLimit: 3 })
  const explained = ['explain', 'alpha', 'eth_gasPrice', '--endpoint', endpointId]
  const { code, stdout } = await run([...explained, '--config', gateway.dir])
  t.equal(code, 1)
  t.match(stdout, /^allowed .*3 request units a day$/m)
  t.match(stdout, /^today {5}\d+ of 3 request units used, resets .* UTC: the endpoint's daily limit$/m)
  t.match(stdout, /^refused .*quota_exhausted$/m)
  t.match(await command('endpoint', 'limit', endpointId, '--daily', 'none'), { dailyLimit: null })
  await until('it is lifted', async () => (await call(access)) === 'served')
  const wrong = await run(['endpoint', 'limit', endpointId, '--daily', '0', '--config', gateway.dir])
  t.match(wrong, { code: 2, stderr: /--daily must be a whole number of request units, at least 1, or none/ })
})
