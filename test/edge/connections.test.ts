import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { get, send } from '../support/http.ts'
import { closeAll, exchangeFrom, openFrom, type Loopback } from '../support/many-sockets.ts'
import { metric } from '../support/metrics.ts'
import { echo } from '../support/node-replies.ts'
import { repliesIn } from '../support/raw-replies.ts'
import { refusedItem } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** Connections in all and of one address: the good ones are served, those on top are told why. */
const node = await startNode(t, { chainId: 1001 })
node.on('web3_sha3', echo)
const configOf = (limits: object, trustedProxies: string[] = []) => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
  // What stands idle here does so for as long as the test takes.
  gateway: { limits, trustedProxies, timeouts: { headers: '10m', request: '10m' } },
})
const config = configOf({ connections: 40, connectionsPerAddress: 10 })
const gateway = await startGateway(t, config)
const access = await createAccess(gateway, 'paid', 'alpha')
const body = message('web3_sha3', ['0x00'])
const request =
  `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: close\r\n` +
  `Content-Length: ${body.length}\r\n\r\n${body}`

const ask = async (address: Loopback) => {
  const [reply] = repliesIn(await exchangeFrom(address, gateway.port, request))
  if (reply === undefined) throw new Error('no reply')
  return reply
}
/** Resolves when this address is served again, that is when its closed connections are forgotten; behind a flood one may be cut. */
const served = async (address: Loopback) =>
  until(`${address} is served`, () =>
    ask(address).then(
      ({ status }) => status === 200,
      () => false,
    ),
  )

t.test('an address that holds its connections is told so; others are served', async t => {
  const held = await openFrom('127.0.0.2', gateway.port, 10)
  const before = node.calls.length
  const reply = await ask('127.0.0.2')
  t.equal(reply.status, 429)
  t.equal(reply.headers.connection, 'close')
  t.equal(reply.headers['access-control-allow-origin'], '*')
  refusedItem(t, reply.text, { reason: 'too_many_connections', data: { limit: 10 } })
  t.equal(node.calls.length, before)
  t.equal((await ask('127.0.0.3')).status, 200)
  t.equal(await metric(gateway, 'tollgate_refusals_total', { reason: 'too_many_connections' }), 1)
  closeAll(held)
  await served('127.0.0.2')
})

t.test('above all connections everybody is told so, and the admin listener answers', async t => {
  const held = (
    await Promise.all([2, 3, 4, 5].map(async last => openFrom(`127.0.0.${last}`, gateway.port, 10)))
  ).flat()
  const reply = await ask('127.0.0.6')
  t.equal(reply.status, 503)
  t.equal(reply.headers.connection, 'close')
  refusedItem(t, reply.text, { reason: 'overloaded' })
  for (const path of ['/livez', '/readyz', '/metrics', '/status'])
    t.equal((await get(gateway.adminUrl + path)).status, 200, path)
  closeAll(held)
  await served('127.0.0.6')
})

t.test('a flood of connections on top costs no more than a few of them', async t => {
  const held = await openFrom('127.0.0.2', gateway.port, 10)
  const flood = await openFrom('127.0.0.2', gateway.port, 600)
  for (let i = 0; i < 5; i++) t.equal((await ask('127.0.0.3')).status, 200)
  closeAll(flood)
  closeAll(held)
  await served('127.0.0.2')
})

t.test('a reload changes the bounds of what comes then', async t => {
  const held = await openFrom('127.0.0.2', gateway.port, 10)
  const reload = async (limits: object, proxies: string[] = []) => {
    await writeConfig(gateway.dir, configOf(limits, proxies))
    const { port } = new URL(gateway.adminUrl)
    const { status } = await send(Number(port), { path: '/reload' })
    t.equal(status, 200)
  }
  await reload({ connections: 40, connectionsPerAddress: 11 })
  t.equal((await ask('127.0.0.2')).status, 200)
  await reload({ connections: 10, connectionsPerAddress: 11 })
  t.equal((await ask('127.0.0.3')).status, 503)
  // A trusted proxy speaks for many: only the bound of all holds it.
  await reload({ connections: 15, connectionsPerAddress: 5 }, ['127.0.0.2/32'])
  t.equal((await ask('127.0.0.2')).status, 200)
  const more = await openFrom('127.0.0.2', gateway.port, 5)
  t.equal((await ask('127.0.0.2')).status, 503)
  closeAll(more)
  closeAll(held)
  await served('127.0.0.3')
})
