import t from 'tap'
import { once } from 'node:events'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { echo, held, result } from '../support/node-replies.ts'
import { observe } from '../support/observe.ts'
import { repliesIn } from '../support/raw-replies.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { exchange, openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

/** More than fits is refused at once and cheaply; what fits is served as before. */
const node = await startNode(t, { chainId: 1001 })
node.on('web3_sha3', echo).on('eth_getBlockReceipts', result('[]'))
const configOf = (limits: object) => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  plans: { modest: { tiers: ['any'], rate: { perSecond: 20, burst: 20 }, maxBatch: 100 } },
  gateway: { limits },
})
const gateway = await startGateway(t, configOf({ inFlight: 20, memory: '5800KiB' }))
const access = await createAccess(gateway, 'paid', 'alpha')
const body = message('web3_sha3', ['0x00'])
const health = ['/livez', '/readyz', '/metrics', '/status']
const healthy = async (of: Gateway) =>
  Promise.all(health.map(async path => (await get(of.adminUrl + path)).status))

t.test('calls above the bound are refused before their bodies are read, and served again after', async t => {
  const gate = new Gate()
  node.on('eth_gasPrice', held(gate, echo))
  const before = node.count('eth_gasPrice')
  const calls = Array.from({ length: 20 }, async () => access.post(message('eth_gasPrice')))
  await node.arrived('eth_gasPrice', before + 20)
  const sent = node.calls.length
  for (let i = 0; i < 30; i++) refused(t, await access.post(body), { reason: 'overloaded' })
  // The answer comes before the body, which is never asked for.
  const [reply] = repliesIn(
    await exchange(
      gateway.port,
      `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n`,
    ),
  )
  t.equal(reply?.status, 503)
  t.equal(node.calls.length, sent)
  t.strictSame(await healthy(gateway), [200, 200, 200, 200])
  gate.open()
  for (const { status } of await Promise.all(calls)) t.equal(status, 200)
  t.equal((await access.post(body)).status, 200)
})

t.test('what was refused for want of room was charged to nobody', async t => {
  const gate = new Gate()
  node.on('eth_gasPrice', held(gate, echo))
  const before = node.count('eth_gasPrice')
  const { requests } = await observe(access, node, async () => {
    const calls = Array.from({ length: 20 }, async () => access.post(message('eth_gasPrice')))
    await node.arrived('eth_gasPrice', before + 20)
    for (let i = 0; i < 10; i++) await access.post(body)
    gate.open()
    await Promise.all(calls)
  })
  t.equal(requests, 20)
})

t.test('what is held shares a bound; short bodies pass beside it', async t => {
  const long = (bytes: number) => body + ' '.repeat(bytes - body.length)
  const head = (length: number) =>
    `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\nContent-Length: ${length}\r\n\r\n`
  const hogs = await Promise.all([1, 2].map(async () => openSocket(gateway.port)))
  const sent = head(700_000) + long(560_000)
  await Promise.all(hogs.map(async hog => new Promise(resolve => hog.write(sent, resolve))))
  // What the system holds of them is read before these are answered.
  for (let i = 0; i < 30; i++) await access.post(body)
  const denied = await access.post(long(200_000))
  refused(t, denied, { reason: 'overloaded' })
  t.equal((await access.post(long(4_000))).status, 200)
  // A hog that goes on is served: what it holds is its own.
  const [first, second] = hogs
  let text = ''
  first!.on('data', (chunk: Buffer) => (text += chunk.toString()))
  second!.destroy()
  await until('the other one is forgotten', async () => (await access.post(long(200_000))).status === 200)
  first!.write(' '.repeat(140_000))
  await once(first!, 'close')
  t.equal(repliesIn(text)[0]?.status, 200)
  for (let i = 0; i < 8; i++) t.equal((await access.post(long(900_000))).status, 200, 'all is given back')
})

t.test('ten times the rate of one account takes nothing from another', async t => {
  const wide = await startGateway(t, configOf({}))
  const flooder = await createAccess(wide, 'modest', 'alpha')
  const bystander = await createAccess(wide, 'paid', 'alpha')
  const begin = performance.now()
  const isOver = () => performance.now() - begin > 3_000
  const [flood, good, health] = await Promise.all([
    steadyLoad(flooder, 200, () => body, isOver),
    steadyLoad(bystander, 30, () => body, isOver),
    (async () => {
      const seen = []
      while (!isOver()) seen.push(...(await healthy(wide)))
      return seen
    })(),
  ])
  const elapsed = (performance.now() - begin) / 1000
  t.ok(good.length >= 60, `${good.length} good calls`)
  t.strictSame([...new Set(good.map(({ status }) => status))], [200])
  t.strictSame([...new Set(health)], [200])
  const passed = flood.filter(({ status }) => status === 200).length
  t.ok(passed >= 20 && passed <= 20 + 20 * elapsed + 1, `${passed} of ${flood.length} in ${elapsed} s`)
  t.strictSame([...new Set(flood.map(({ status }) => status))].sort(), [200, 429])
  t.equal((await flooder.usage()).requests, passed)
  await until('the flooder is served again', async () => (await flooder.post(body)).status === 200, 5_000)
})
