import t from 'tap'
import { setTimeout as pause } from 'node:timers/promises'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { echo, held, result } from '../support/node-replies.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, type SocketClient } from '../support/socket-client.ts'
import { until, within } from '../support/until.ts'

/** Sockets are closed one after the other, over a time that the contract gives as 20 s. */
const drain = 40_000

const chain = new ScriptedChain()
const node = await startSocketNode(t, { chainId: 1001, chain })
const config = {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: `${fewAndSubscribe}    eth_getLogs: { params: [1, 1] }\n`,
}

t.test('SIGTERM closes sockets with 1001, lets calls in flight finish, and exits 0', async t => {
  const gateway = await startGateway(t, config)
  const access = await createAccess(gateway, 'paid', 'alpha')
  const clients: SocketClient[] = []
  for (let i = 0; i < 5; i++) clients.push(await openClient(t, access))
  const subscriptions = await Promise.all(clients.map(one => one.subscribe('eth_subscribe', ['newHeads'])))
  const head = chain.mine()
  for (const [i, client] of clients.entries())
    t.match(await client.notified(subscriptions[i]!, 1), [{ hash: head.hash }])
  const gate = new Gate()
  node.on('eth_gasPrice', held(gate, result('"0x1"')))
  clients[0]!.send(message('eth_gasPrice', [], 'in flight'))
  await node.arrived('eth_gasPrice')

  gateway.signal('SIGTERM')
  await until('it is not ready', async () => (await get(`${gateway.adminUrl}/readyz`)).status === 503)
  gate.open()
  t.match(await clients[0]!.reply('"in flight"'), { result: '0x1' })
  for (const client of clients) t.equal((await client.closedBy('the drain', drain)).code, 1001)
  // Nobody is left whom it could wait for.
  t.same(await within('the end of the process', gateway.exited, 8_000), { code: 0, signal: null })
  await node.when('nothing is left', () => node.sockets === 0 && node.live().length === 0)
  for (const line of gateway.printed.trim().split('\n')) t.type(JSON.parse(line), 'object')
})

t.test('bug: calls on a draining socket were never answered while one was in flight', async t => {
  const own = await startSocketNode(t, { chainId: 1001 })
  const gateway = await startGateway(t, {
    ...config,
    routes: [{ id: 'alpha-a', network: 'alpha', http: own.url, ws: own.wsUrl }],
    gateway: { timeouts: { drain: '6s' } },
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  const [idle, quiet, busy] = [
    await openClient(t, access),
    await openClient(t, access),
    await openClient(t, access),
  ]
  const gates = { eth_gasPrice: new Gate(), eth_getLogs: new Gate() }
  own.on('web3_sha3', echo)
  for (const [method, gate] of Object.entries(gates)) own.on(method, held(gate, result('"0x1"')))
  quiet.send(message('eth_gasPrice', [], 'in flight'))
  busy.send(message('eth_getLogs', [{}], 'in flight'))
  for (const method of Object.keys(gates)) await own.arrived(method)

  gateway.signal('SIGTERM')
  t.equal((await idle.closedBy('the drain', drain)).code, 1001)
  for (const client of [quiet, busy])
    for (const params of [['0x00'], ['0x01'], ['0x02']])
      t.match(
        await client.call('web3_sha3', params),
        { result: params },
        'it is served as long as it is open',
      )
  gates.eth_gasPrice.open()
  t.match(await quiet.reply('"in flight"'), { result: '0x1' })
  t.equal((await quiet.closedBy('its last call', 3_000)).code, 1001, 'it closes when nothing is in flight')

  let served = 0
  let reply = await busy.call('web3_sha3', ['0x03'])
  for (; reply.error === undefined; reply = await busy.call('web3_sha3', ['0x03'])) {
    served += 1
    await pause(100)
  }
  t.match(
    reply.error,
    { data: { reason: 'no_route' }, message: /shutting down/ },
    'at last calls are refused',
  )
  gates.eth_getLogs.open()
  t.match(await busy.reply('"in flight"'), { result: '0x1' }, 'and what is in flight is answered')
  t.equal((await busy.closedBy('its last call', 3_000)).code, 1001)
  t.same(await within('the end of the process', gateway.exited, 8_000), { code: 0, signal: null })
  await gateway.start()
  t.strictSame(await access.usage(), { requests: 8 + served, calls: 8 + served }, 'each is charged once')
})

t.test('notifications are metered before they are sent, also across kill -9', async t => {
  const gateway = await startGateway(t, config)
  const access = await createAccess(gateway, 'paid', 'alpha')
  const client = await openClient(t, access)
  const subscription = await client.subscribe('eth_subscribe', ['newHeads'])
  let killed: Promise<void> | undefined
  while (client.over === undefined) {
    chain.mine()
    await new Promise(resolve => setImmediate(resolve))
    if (client.notifications(subscription).length >= 500) killed ??= gateway.kill9()
  }
  await killed
  const told = client.notifications(subscription).length
  await gateway.start()
  const { requests } = await access.usage()
  t.ok(requests >= told + 1, `every one that was told is metered: ${requests} units, ${told} told`)
})
