import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { metricIs } from '../support/metrics.ts'
import { echo } from '../support/node-replies.ts'
import { refused, refusedItem } from '../support/refusals.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { askUpgrade, openClient as openAnyClient, type SocketClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

/** What the contract calls a second, on a machine that does other things too. */
const soon = 5_000

const chain = new ScriptedChain()
const node = await startSocketNode(t, { chainId: 1001, chain })
const solanaNode = await startSocketNode(t)
const tiers = ['any', 'paid']
const rate = { perSecond: 100_000, burst: 100_000 }
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, sol: { family: 'solana', chainId: 'solana-test' } },
  routes: [
    {
      id: 'alpha-a',
      network: 'alpha',
      http: node.url,
      ws: node.wsUrl,
      capabilities: ['debug'],
    },
    { id: 'sol-a', network: 'sol', http: solanaNode.url, ws: solanaNode.wsUrl },
  ],
  plans: {
    wide: { tiers, rate, ws: { connections: 5, subscriptions: 10 } },
    crowd: { tiers, rate, ws: { connections: 30, subscriptions: 10 } },
    narrow: { tiers: ['any'], rate, ws: { connections: 2, subscriptions: 10 } },
  },
})
node.on('web3_sha3', echo)
/** Every socket of this file. */
const sockets: SocketClient[] = []
async function openClient(access: Access): Promise<SocketClient> {
  const client = await openAnyClient(t, access)
  sockets.push(client)
  return client
}

const bystander = await createAccess(gateway, 'paid', 'alpha')
const witness = await openClient(bystander)
const witnessed = await witness.subscribe('eth_subscribe', ['newHeads'])

/** Two sockets of one endpoint, each with a subscription. */
async function open(access: Access): Promise<SocketClient[]> {
  const clients = [await openClient(access), await openClient(access)]
  for (const client of clients) {
    if (access.slug === 'sol') await client.subscribe('slotSubscribe')
    else await client.subscribe('eth_subscribe', ['newHeads'])
  }
  return clients
}

/** What takes a key away, each in the gateway itself and from another process. */
const ends: [
  name: string,
  reason: 'invalid_key' | 'endpoint_inactive' | 'account_suspended',
  (own: Access, through: Access) => Promise<unknown>,
][] = [
  [
    'a key that is deleted',
    'invalid_key',
    ({ endpointId }, through) => through.managed('service_deleteEndpoint', [{ endpointId }]),
  ],
  [
    'an endpoint that is deactivated',
    'endpoint_inactive',
    ({ endpointId }, through) =>
      through.managed('service_updateEndpoint', [{ endpointId, status: 'inactive' }]),
  ],
  [
    'a key that another process deletes',
    'invalid_key',
    ({ endpointId }) => withAccounts(gateway, store => store.endpoints.remove(null, endpointId)),
  ],
  [
    'an endpoint that another process deactivates',
    'endpoint_inactive',
    ({ endpointId }) =>
      withAccounts(gateway, store => store.endpoints.change(null, endpointId, { status: 'inactive' })),
  ],
  [
    'an account that is suspended',
    'account_suspended',
    ({ accountId }) =>
      withAccounts(gateway, store => store.accounts.change(accountId, { status: 'suspended' })),
  ],
]
for (const [name, reason, end] of ends) {
  t.test(`${name} closes its sockets with 1008, and no others`, async t => {
    const through = await createAccess(gateway, 'paid', 'alpha')
    const own = await through.another('alpha')
    const onSolana = await through.another('sol')
    const clients = await open(own)
    const siblings = [...(await open(through)), ...(await open(onSolana))]
    await end(own, through)
    for (const client of clients) t.equal((await client.closedBy(name, soon)).code, 1008)
    refused(t, await askUpgrade(gateway.port, own.path), { reason })
    for (const client of siblings)
      if (reason === 'account_suspended') t.equal((await client.closedBy(name, soon)).code, 1008)
      else
        t.match(await client.call(client === siblings[0] ? 'eth_chainId' : 'service_account'), {
          result: /./,
        })
    t.match(await witness.call('eth_chainId'), { result: '0x3e9' })
  })
}

t.test('a crowd of sockets whose key is deleted are no guesses at keys', async t => {
  const own = await createAccess(gateway, 'crowd', 'alpha')
  // More than bad keys are told so before they are throttled.
  const clients = await Promise.all(Array.from({ length: 25 }, () => openClient(own)))
  await withAccounts(gateway, store => store.endpoints.remove(null, own.endpointId))
  for (const client of clients)
    t.match(await client.closedBy('its key is gone', soon), { code: 1008, reason: 'invalid_key' })
  refused(t, await askUpgrade(gateway.port, own.path), { reason: 'invalid_key' })
})

t.test('a key that deletes itself over its own socket', async t => {
  const own = await createAccess(gateway, 'paid', 'alpha')
  const client = await openClient(own)
  client.send(message('service_deleteEndpoint', [{ endpointId: own.endpointId }]))
  t.equal((await client.closedBy('its key is gone', soon)).code, 1008)
})

t.test('a plan with fewer connections closes those that are too many', async t => {
  const own = await createAccess(gateway, 'wide', 'alpha')
  const sibling = await own.another('sol')
  const clients: SocketClient[] = []
  for (const by of [own, sibling, own, sibling, own]) clients.push(await openClient(by))
  const over = () => clients.filter(client => client.over !== undefined)
  await withAccounts(gateway, store => store.accounts.change(own.accountId, { plan: 'narrow' }))
  await Promise.any(clients.map(client => client.closedBy('the smaller plan', soon)))
  await until('three are closed', () => Promise.resolve(over().length >= 3), soon)
  for (const client of over()) t.equal(client.over?.code, 1008)
  const left = clients.filter(client => client.over === undefined)
  t.equal(left.length, 2)
  for (const client of left) t.match(await client.call('service_account'), { result: { plan: 'narrow' } })
  refused(t, await askUpgrade(gateway.port, own.path), { reason: 'too_many_connections' })
  await withAccounts(gateway, store => store.accounts.change(own.accountId, { plan: 'wide' }))
  await until('there is room again', async () => (await askUpgrade(gateway.port, own.path)).status === 101)
})

t.test('each frame is served with the plan of now', async t => {
  const own = await createAccess(gateway, 'wide', 'alpha')
  const client = await openClient(own)
  const traced = () => client.exchange(message('debug_traceBlockByNumber', ['latest']))
  t.match(await traced(), '"result"')
  await withAccounts(gateway, store => store.accounts.change(own.accountId, { plan: 'narrow' }))
  const refusal = await until('the plan is narrow', async () => {
    const reply = await traced()
    return reply.includes('"result"') ? undefined : reply
  })
  refusedItem(t, refusal, { reason: 'plan_required', id: '1', data: { tier: 'paid' } })
  t.equal(client.over, undefined)
})

t.test('whoever had nothing to do with all this has missed nothing', async t => {
  const { hash } = chain.mine()
  t.match(await witness.notified(witnessed, 1), [{ hash }])
  t.equal(witness.over, undefined)
})

t.test('what was closed is not counted any more', async () => {
  const left = sockets.filter(({ over }) => over === undefined).length
  await metricIs(gateway, 'tollgate_ws_connections', {}, left)
})
