import { once } from 'node:events'
import { request, type IncomingMessage } from 'node:http'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewAndSubscribe } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { echo, held, resetBeforeReply, type Handler } from '../support/node-replies.ts'
import { ScriptedChain } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'
import { ConfigDir } from './config-dir.ts'

const chainId = 1001
const chain = new ScriptedChain()
const old = await startSocketNode(t, { chainId, chain })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId } },
  methods: fewAndSubscribe,
  routes: [{ id: 'alpha-0', network: 'alpha', http: old.url, ws: old.wsUrl }],
  gateway: { acknowledge: ['endpoints-without-network'] },
})
const access = await createAccess(gateway, 'paid', 'alpha')
await gateway.headKnown('alpha')
const dir = new ConfigDir(gateway.dir)
let renames = 0

/** Takes the only route away and brings another of a new name. */
async function replaceRoute(t: Test, { url, wsUrl }: { readonly url: string; readonly wsUrl: string } = old) {
  const { routes } = parse(dir.read('routes.yaml'))
  Object.assign(routes[0], { id: `alpha-${++renames}`, http: url, ws: wsUrl })
  dir.write(new Map([['routes.yaml', stringify({ routes })]]), 'rename')
  const reply = await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })
  t.equal(reply.status, 200)
}

/** Sends the beginning of a request, and gives what sends the rest and awaits the status. */
async function slowly({ path, gateway: { port } }: Access, body: string): Promise<() => Promise<number>> {
  const headers = { 'content-type': 'application/json', 'content-length': body.length }
  const sent = request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent: false })
  sent.write(body.slice(0, 10))
  await once(sent, 'socket').then(([socket]) => once(socket, 'connect'))
  // Answered only once the gateway has read what was sent before it.
  await access.call('eth_chainId')
  return async () => {
    const replied = once(sent, 'response')
    sent.end(body.slice(10))
    const [response] = (await replied) as [IncomingMessage]
    response.resume()
    return response.statusCode ?? 0
  }
}

t.test('a call that must be sent again finds the routes that it began with', async t => {
  const gate = new Gate()
  let times = 0
  const second: Handler = (...call) => (++times === 1 ? resetBeforeReply(...call) : echo(...call))
  old.on('web3_sha3', held(gate, second))
  const call = access.post(message('web3_sha3', ['0x00']))
  await old.arrived('web3_sha3')
  await replaceRoute(t)
  gate.open()
  t.match(await call, { status: 200, text: '{"jsonrpc":"2.0","id":1,"result":["0x00"]}' })
  t.equal(times, 2)
})

t.test('a call whose body comes after the edit is served by the new configuration', async t => {
  old.on('eth_gasPrice', echo)
  const finish = await slowly(access, message('eth_gasPrice'))
  await replaceRoute(t)
  t.equal(await finish(), 200)
})

t.test('the longest message of a socket is that of the configuration at its opening', async t => {
  const before = await openClient(t, access)
  const settings = parse(dir.read('gateway.yaml'))
  const limits = { ...settings.limits, body: '2KiB' }
  dir.write(new Map([['gateway.yaml', stringify({ ...settings, limits })]]), 'rename')
  t.equal((await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })).status, 200)
  const long = message('eth_chainId') + ' '.repeat(2048)
  const after = await openClient(t, access)
  after.send(long)
  t.equal((await after.closedBy('a long frame')).code, 1009)
  t.match(JSON.parse(await before.exchange(long)), { result: '0x3e9' })
  dir.write(new Map([['gateway.yaml', stringify(settings)]]), 'rename')
  t.equal((await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })).status, 200)
})

t.test('a socket on a network that came and went within a moment ends with it', async t => {
  const edit = (name: 'networks.yaml' | 'routes.yaml', change: (document: any) => void): void => {
    const document = parse(dir.read(name))
    change(document)
    dir.write(new Map([[name, stringify(document)]]), 'rename')
  }
  const reload = async () => {
    t.equal((await fetch(`${gateway.adminUrl}/reload`, { method: 'POST' })).status, 200)
  }
  const come = async () => {
    edit('networks.yaml', ({ networks }) => {
      networks.beta = { ...networks.alpha, name: 'Beta' }
    })
    const beta = { id: 'beta-0', network: 'beta', http: old.url, ws: old.wsUrl, weight: 1, priority: 1 }
    edit('routes.yaml', ({ routes }) => {
      routes.push({ ...beta, capabilities: [], enabled: true })
    })
    await reload()
  }
  const go = async () => {
    edit('routes.yaml', ({ routes }) => {
      routes.pop()
    })
    edit('networks.yaml', ({ networks }) => {
      delete networks.beta
    })
    await reload()
  }
  await come()
  const beta = await access.another('beta')
  await go()
  // Open sockets are looked at four times a second: five tries begin at different times before a look.
  await come()
  const gate = new Gate()
  old.on('web3_sha3', held(gate, echo))
  const [busy, idle] = [await openClient(t, beta), await openClient(t, beta)]
  const before = old.count('web3_sha3')
  const call = busy.call('web3_sha3', ['0x'])
  await old.arrived('web3_sha3', before + 1)
  await go()
  t.equal((await idle.closedBy('its network has gone')).code, 1001)
  busy.send(message('web3_sha3', ['0x']))
  gate.open()
  t.match(await call, { result: ['0x'] }, 'what is in flight is answered')
  t.equal((await busy.closedBy('its network has gone')).code, 1001)
  for (let i = 0; i < 5; i++) {
    await come()
    const client = await openClient(t, beta)
    await go()
    t.equal((await client.closedBy('its network has gone')).code, 1001)
  }
})

t.test('a subscription goes over to the route that came, and misses nothing', async t => {
  const client = await openClient(t, access)
  const subscription = await client.subscribe('eth_subscribe', ['newHeads'])
  const blocks = [chain.mine()]
  await client.notified(subscription, 1)
  const fresh = await startSocketNode(t, { chainId, chain })
  old.announces = false
  blocks.push(chain.mine())
  await replaceRoute(t, fresh)
  await fresh.when('the subscription', () => fresh.live('eth_subscribe').length === 1)
  blocks.push(chain.mine())
  const told = await client.notified(subscription, 3)
  t.same(
    told.map(({ hash }) => String(hash)),
    blocks.map(({ hash }) => hash),
  )
  t.equal(client.over, undefined)
  await old.when('nothing is left of it', () => old.sockets === 0)
})
