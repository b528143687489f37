import { once } from 'node:events'
import { request } from 'node:http'
import t, { type Test } from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { allCapabilities, amplePlans } from '../support/config-files.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { echo, held, resetBeforeReply } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket } from '../support/tcp.ts'
import { until, within } from '../support/until.ts'

const chainId = 1001
const node = await startNode(t, { chainId })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId, share: false } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: allCapabilities }],
})

t.test('a heavy call whose client leaves is ended at the node, and charged', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  let ended: Promise<unknown> | undefined
  node.on('debug_traceTransaction', (_, response) => {
    ended = once(response, 'close')
  })
  const { port, path } = { port: gateway.port, path: access.path }
  const client = request({ port, path, method: 'POST', headers: { 'content-type': 'application/json' } })
  client.on('error', () => undefined)
  client.end(message('debug_traceTransaction', [`0x${'ab'.repeat(32)}`]))
  await node.arrived('debug_traceTransaction', 1)
  client.destroy()
  await ended
  t.strictSame(await access.usage(), { requests: 5, calls: 1 })
  t.equal(node.count('debug_traceTransaction'), 1, 'and not tried again')
})

t.test('so are all heavy calls that were pipelined on its connection', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const before = node.count('debug_traceTransaction')
  const ended: Promise<unknown>[] = []
  node.on('debug_traceTransaction', (_, response) => {
    ended.push(once(response, 'close'))
  })
  const socket = await openSocket(gateway.port)
  const body = message('debug_traceTransaction', [`0x${'ab'.repeat(32)}`])
  const head = `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
  socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`.repeat(3))
  await node.arrived('debug_traceTransaction', before + 3)
  t.equal(ended.length, 3)
  socket.destroy()
  await within('the end of all three', Promise.all(ended))
  t.equal(node.count('debug_traceTransaction'), before + 3, 'and none is tried again')
})

/** A gateway with a second route for what the first one does not answer, and what holds calls at the nodes. */
async function twoRoutes(t: Test) {
  const [first, second] = [await startNode(t, { chainId }), await startNode(t, { chainId })]
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId, methods: { eth_gasPrice: { share: false } } } },
    plans: amplePlans,
    routes: [
      { id: 'alpha-a', network: 'alpha', priority: 1, http: first.url },
      { id: 'alpha-b', network: 'alpha', priority: 2, http: second.url },
    ],
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  await gateway.headKnown('alpha')
  const gate = new Gate()
  return { first, second, gateway, access, gate }
}

t.test(
  'calls that wait for a connection when their client leaves are sent to no node, and cost nothing',
  async t => {
    const { first, second, gateway, access, gate } = await twoRoutes(t)
    for (const node of [first, second]) node.on('eth_getCode', held(gate, echo))
    const head = `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
    const requestOf = (n: number): string => {
      const body = message('eth_getCode', [`0x${n}`, 'latest'])
      return `${head}Content-Length: ${body.length}\r\n\r\n${body}`
    }
    const sockets = await Promise.all(Array.from({ length: 25 }, () => openSocket(gateway.port)))
    for (const [at, socket] of sockets.entries())
      socket.write(Array.from({ length: 16 }, (_, n) => requestOf(at * 16 + n)).join(''))
    const inFlight = () => metric(gateway, 'tollgate_route_in_flight', { route: 'alpha-a' })
    await until('all calls are sent, or wait', async () => (await inFlight()) === 400)
    for (const socket of sockets) socket.destroy()
    // The node holds all that it has got.
    const isSentAlone = async () => (await inFlight()) === first.count('eth_getCode')
    await until('those that wait have ended', isSentAlone)
    const sent = first.count('eth_getCode')
    t.ok(sent < 300, `${sent} are sent`)
    gate.open()
    await until('the others have', async () => (await inFlight()) === 0)
    t.strictSame([first.count('eth_getCode'), second.count('eth_getCode')], [sent, 0])
    t.strictSame(await access.usage(), { requests: sent, calls: sent })
  },
)

t.test('of a batch whose client leaves nothing further is sent, nor is a call that failed', async t => {
  const { first, second, gateway, access, gate } = await twoRoutes(t)
  first.on('eth_gasPrice', held(gate, echo)).on('eth_getBalance', held(gate, resetBeforeReply))
  second.on('eth_getBalance', echo)
  const send = async (body: string) => {
    const head = `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
    const socket = await openSocket(gateway.port)
    socket.write(`${head}Content-Length: ${body.length}\r\n\r\n${body}`)
    return socket
  }
  const batch = Array.from({ length: 100 }, (_, i) => message('eth_gasPrice', [], i))
  const sockets = [
    await send(`[${batch.join()}]`),
    await send(message('eth_getBalance', [`0x${'1'.repeat(40)}`, 'latest'])),
  ]
  await first.arrived('eth_gasPrice', 32)
  await first.arrived('eth_getBalance', 1)
  const inFlight = () => metric(gateway, 'tollgate_route_in_flight', { route: 'alpha-a' })
  for (const socket of sockets) socket.destroy()
  // Answered once the gateway has read what came before: that the others have left.
  for (let i = 0; i < 3; i += 1) await access.call('eth_chainId')
  gate.open()
  await until('what was sent is over', async () => (await inFlight()) === 0)
  t.strictSame([first.count('eth_gasPrice'), first.count('eth_getBalance')], [32, 1])
  t.strictSame([second.count('eth_gasPrice'), second.count('eth_getBalance')], [0, 0])
  t.strictSame(await access.usage(), { requests: 35, calls: 35 })
})
