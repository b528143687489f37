/** A node that goes away and comes back as one of another chain. */
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { LogReader } from '../support/log-lines.ts'
import { result } from '../support/node-replies.ts'
import { routesOf } from '../support/route-status.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const UP = 'route is up again'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway: { log: { level: 'info' } },
})
const log = new LogReader(gateway)
const access = await createAccess(gateway, 'paid', 'alpha')
const body = message('web3_sha3', ['0x00'])
const route = async () => (await routesOf(gateway))[0]!
const said = (msg: string) => log.all().filter(line => line.msg === msg)

t.test('what comes back as another chain gets no call, and is no route again', async t => {
  node.on('web3_sha3', result('"0x01"'))
  t.equal((await access.post(body)).status, 200)
  await node.close()
  await until('it is down', async () => !(await route()).healthy, 20_000)
  node.on('eth_chainId', result('"0x5"'))
  await node.listen()
  const before = node.calls.filter(({ method }) => method === 'web3_sha3').length
  await until('its chain is known', async () => (await route()).why === 'it serves chain 5, not 1001', 20_000)
  t.equal((await access.post(body)).status, 503)
  t.equal(node.calls.filter(({ method }) => method === 'web3_sha3').length, before)
  t.strictSame(said(UP), [])
})

t.test('and is one as soon as it is the right chain', async t => {
  await node.close()
  await until('it is out of reach', async () => (await route()).lastError !== undefined, 20_000)
  node.on('eth_chainId', result('"0x3e9"'))
  await node.listen()
  await until('it is healthy', async () => (await route()).healthy, 20_000)
  t.equal((await access.post(body)).status, 200)
})

t.test('a stop says nothing of routes: what it cuts short is no news of them', async t => {
  // Two that take questions and never answer: both are still asked when the network is said to be down.
  const mute = createServer().listen(0, '127.0.0.1')
  await once(mute, 'listening')
  t.teardown(() => mute.close())
  const http = `http://127.0.0.1:${(mute.address() as AddressInfo).port}`
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    methods: fewMethods,
    routes: ['alpha-a', 'alpha-b'].map(id => ({ id, network: 'alpha', http })),
    gateway: { log: { level: 'info' } },
  })
  const log = new LogReader(gateway)
  const isDown = () => log.all().some(({ msg }) => msg === 'every route of the network is down')
  await until('it is said to be down', () => Promise.resolve(isDown()))
  const before = log.all().length
  await gateway.stop()
  const since = log
    .all()
    .slice(before)
    .map(({ msg }) => msg)
  t.strictSame(since, ['draining', 'stopped'])
})
