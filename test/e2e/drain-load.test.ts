import { once } from 'node:events'
import { Agent } from 'node:http'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { LogReader } from '../support/log-lines.ts'
import { echo, held, type Handler } from '../support/node-replies.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import { steadyLoad } from '../support/steady-load.ts'
import { openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const node = await startSocketNode(t, { chainId })
const config = {
  networks: { alpha: { chainId } },
  methods: fewAndSubscribe,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  gateway: { timeouts: { drainIdle: '500ms' } },
}
/** Milliseconds that the slow calls of the load take. */
const slowness = 1_500
const slow: Handler = async (...call) => {
  await pause(slowness)
  await echo(...call)
}
const ready = async (adminUrl: string) => (await get(`${adminUrl}/readyz`)).status

t.test(
  'SIGTERM during load: every call that was taken is answered and charged, the slow ones too',
  async t => {
    node.on('web3_sha3', echo).on('eth_getBalance', slow)
    const gateway = await startGateway(t, config)
    const access = await createAccess(gateway, 'paid', 'alpha')
    const clients: SocketClient[] = []
    for (let i = 0; i < 20; i++) clients.push(await openClient(t, access))
    await clients[0]!.subscribe('eth_subscribe', ['newHeads'])
    const unused = await openSocket(gateway.port)
    const unusedClosed = once(unused.resume(), 'close')
    let over = false
    const bodyOf = (n: number) =>
      n % 10 === 0 ? message('eth_getBalance', [`0x${n}`], n) : message('web3_sha3', [`0x${n}`], n)
    const load = steadyLoad(access, 200, bodyOf, () => over)
    await node.arrived('web3_sha3', 100)
    const onSockets = clients.map((client, i) => client.call('eth_getBalance', [`0x50c${i}`]))
    await node.arrived('eth_getBalance', 20 + 10)
    const arrivedBefore = node.count('eth_getBalance')

    gateway.signal('SIGTERM')
    await until('it is not ready', async () => (await ready(gateway.adminUrl)) === 503)
    await unusedClosed
    const exit = await gateway.exited
    over = true
    const calls = await load
    const taken = new Set(node.calls.map(({ params }) => params))
    const paramsOf = (body: string) => JSON.stringify(JSON.parse(body).params)
    const wrong = calls.filter(({ body, status, text }) => {
      const { id } = JSON.parse(body) as { id: number }
      if (!taken.has(paramsOf(body))) return status !== 0
      return status !== 200 || text !== `{"jsonrpc":"2.0","id":${id},"result":${paramsOf(body)}}`
    })
    t.same(wrong.slice(0, 3), [], 'what reached the node was answered, what did not was not taken')
    const answered = calls.filter(({ status }) => status === 200)
    t.ok(arrivedBefore > 20 && answered.length < calls.length, 'it was stopped in the middle')
    for (const [i, reply] of (await Promise.all(onSockets)).entries()) t.same(reply.result, [`0x50c${i}`])
    for (const client of clients) t.equal((await client.closed).code, 1001)
    t.same(exit, { code: 0, signal: null })
    await node.when('nothing is left at the node', () => node.sockets === 0)

    await gateway.start()
    const units = answered.length + onSockets.length + 1
    t.same(await access.usage(), { requests: units, calls: units }, 'all of it is charged, and nothing else')
  },
)

t.test(
  'a reply in flight says that its connection ends; an idle one that was used ends after drainIdle',
  async t => {
    const gate = new Gate()
    node.on('eth_gasPrice', held(gate, echo))
    const gateway = await startGateway(t, config)
    const access = await createAccess(gateway, 'paid', 'alpha')
    const [idle, busy] = [new Agent({ keepAlive: true }), new Agent({ keepAlive: true })]
    t.teardown(() => {
      idle.destroy()
      busy.destroy()
    })
    t.equal((await access.post(message('eth_chainId'), { agent: idle })).headers.connection, 'keep-alive')
    const [kept] = Object.values(idle.freeSockets).flatMap(sockets => sockets ?? [])
    const keptClosed = once(kept!, 'close')
    const call = access.post(message('eth_gasPrice'), { agent: busy })
    const pipelined = await openSocket(gateway.port)
    const bytes: Buffer[] = []
    const ended = once(
      pipelined.on('data', (chunk: Buffer) => bytes.push(chunk)),
      'close',
    )
    const head = `POST ${access.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\n`
    const body = message('eth_gasPrice')
    pipelined.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(3))
    await node.arrived('eth_gasPrice', 4)
    gateway.signal('SIGTERM')
    await keptClosed
    gateway.signal('SIGHUP')
    t.equal(
      (await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })).status,
      503,
      'no edit is taken now',
    )
    gate.open()
    const { status, headers } = await call
    t.match({ status, connection: headers.connection }, { status: 200, connection: 'close' })
    await ended
    t.same(
      Buffer.concat(bytes)
        .toString()
        .match(/HTTP\/1.1 \d+|(?<=^connection: )[a-z-]+/gim),
      ['HTTP/1.1 200', 'keep-alive', 'HTTP/1.1 200', 'keep-alive', 'HTTP/1.1 200', 'close'],
      'of three on one connection the last one says so',
    )
    t.same(await gateway.exited, { code: 0, signal: null })
    t.same(
      new LogReader(gateway)
        .all()
        .flatMap(({ msg, level }) => (level === 'error' || level === 'fatal' ? [msg] : [])),
      [],
    )
  },
)

for (const second of ['SIGTERM', 'SIGINT'] as const)
  t.test(`a ${second} behind the SIGTERM ends it at once, and what was answered is charged`, async t => {
    const gate = new Gate()
    node.on('eth_getBlockReceipts', held(gate, echo)).on('web3_sha3', echo)
    const gateway = await startGateway(t, config)
    const access = await createAccess(gateway, 'paid', 'alpha')
    for (let i = 0; i < 5; i++) t.equal((await access.post(message('web3_sha3', ['0x00']))).status, 200)
    const before = node.count('eth_getBlockReceipts')
    const lost = access.post(message('eth_getBlockReceipts', ['latest'])).catch(() => 'cut off')
    await node.arrived('eth_getBlockReceipts', before + 1)
    gateway.signal('SIGTERM')
    await until('it is not ready', async () => (await ready(gateway.adminUrl)) === 503)
    gateway.signal(second)
    t.same(await gateway.exited, { code: null, signal: second })
    t.equal(await lost, 'cut off')
    gate.open()
    await gateway.start()
    const { calls } = await access.usage()
    t.ok(
      calls === 5 || calls === 6,
      `${calls} calls: those that were answered, at most the one that was cut off`,
    )
  })
