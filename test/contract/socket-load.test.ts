import t from 'tap'
import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { forgetPeak, memoryIsVisible, peakResident, resident } from '../support/memory.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { echo } from '../support/node-replies.ts'
import { Random } from '../support/random.ts'
import { ScriptedChain, someAddress } from '../support/scripted-chain.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient, upgradeHeaders, type SocketClient } from '../support/socket-client.ts'
import { openSocket } from '../support/tcp.ts'
import { within } from '../support/until.ts'

const MiB = 2 ** 20
const chain = new ScriptedChain()
const node = await startSocketNode(t, { chainId: 1001, chain })
const heavyNode = await startSocketNode(t, { chainId: 1002 })
const rate = { perSecond: 1_000_000, burst: 1_000_000 }
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, heavy: { chainId: 1002 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl },
    { id: 'heavy-a', network: 'heavy', http: heavyNode.url, ws: heavyNode.wsUrl },
  ],
  plans: {
    crowd: { tiers: ['any'], rate, ws: { connections: 5_000, subscriptions: 5_000 } },
    odd: { tiers: ['any'], rate, ws: { connections: 60, subscriptions: 60 } },
  },
  gateway: { limits: { connectionsPerAddress: 10_000 } },
})
node.on('web3_sha3', echo)
const access = await createAccess(gateway, 'crowd', 'alpha')
const onHeavy = await access.another('heavy')
const odd = await createAccess(gateway, 'odd', 'alpha')

/** How long a reader may make no progress, and a little. */
const patience = 10_000
/** More than a reader may have queued, and than the system keeps for it besides. */
const pieces = 512
const piece = 64 * 1024

/** A client that says that it wants a WebSocket, and then whatever a test writes. */
const lines = Object.entries(upgradeHeaders).map(([name, value]) => `${name}: ${value}\r\n`)
const handshakeOf = (path: string) => `GET ${path} HTTP/1.1\r\nHost: a\r\n${lines.join('')}\r\n`

/** One frame as a client sends it. */
function frame(opcode: number, payload: Buffer, fin = true): Buffer {
  const length =
    payload.length < 126
      ? Buffer.from([0x80 | payload.length])
      : Buffer.from([0x80 | 126, payload.length >> 8, payload.length & 255])
  const mask = Buffer.from([0, 0, 0, 0])
  return Buffer.concat([Buffer.from([(fin ? 0x80 : 0) | opcode]), length, mask, payload])
}
const text = (body: string) => frame(1, Buffer.from(body))

/** Reads so many bytes a second and no faster; resolves when the other side has had enough. */
async function readSlowly(socket: Socket, bytes: number, everyMs: number): Promise<void> {
  while (!socket.destroyed && !socket.readableEnded) {
    await pause(everyMs, undefined, { ref: false })
    socket.read(Math.min(bytes, socket.readableLength))
  }
}

const stalled = await openClient(t, onHeavy)
const steady = await openSocket(gateway.port)
t.teardown(() => steady.destroy())
let queuedAt = 0

t.test('a reader that stands still does not hold up the others', async t => {
  const reader = await openClient(t, onHeavy)
  const subscription = await reader.subscribe('eth_subscribe', ['newPendingTransactions'])
  await stalled.subscribe('eth_subscribe', ['newPendingTransactions'])
  stalled.socket.pause()
  steady.write(handshakeOf(onHeavy.path))
  steady.write(text(message('eth_subscribe', ['newPendingTransactions'])))
  await metricIs(gateway, 'tollgate_ws_subscriptions', { network: 'heavy', side: 'client' }, 3)
  void readSlowly(steady, piece, 200)

  if (memoryIsVisible) await forgetPeak(gateway.pid)
  const before = memoryIsVisible ? await resident(gateway.pid) : 0
  for (let i = 0; i < pieces; i++) {
    heavyNode.push('eth_subscribe', `"${i}:${'a'.repeat(piece)}"`)
    await turn()
  }
  const told = await reader.notified(subscription, pieces)
  queuedAt = Date.now()
  t.strictSame(
    told.map((one: string) => Number(one.split(':')[0])),
    Array.from({ length: pieces }, (_, i) => i),
    'all of it, in order',
  )
  if (memoryIsVisible) {
    const more = ((await peakResident(gateway.pid)) - before) / MiB
    const pushed = (pieces * piece) / MiB
    t.ok(more < 6 * pushed, `memory for two that do not read ${pushed} MiB: ${Math.round(more)} MiB`)
  }
  await reader.close()
})

t.test('whoever comes back within the grace finds the subscription of the node as it was', async t => {
  const filter = ['logs', { address: someAddress }]
  const first = await openClient(t, access)
  await first.subscribe('eth_subscribe', filter)
  t.equal(node.live('eth_subscribe', 'logs').length, 1)
  await first.close()
  const second = await openClient(t, access)
  const subscription = await second.subscribe('eth_subscribe', filter)
  await second.call('eth_unsubscribe', [JSON.parse(subscription)])
  const third = await second.subscribe('eth_subscribe', filter)
  chain.mine([{}])
  await second.notified(third, 1)
  t.equal(node.subscriptions.length, 1, 'it was made once')
  t.equal(node.live('eth_subscribe', 'logs').length, 1, 'and never ended')
  await second.close()
})

t.test('whoever leaves before the node has answered leaves nothing', async t => {
  const gate = new Gate()
  node.onSubscribe(async () => {
    await gate.pass()
    return 'accept' as const
  })
  const asked = node.socketRequests.length
  const clients = await Promise.all(Array.from({ length: 60 }, () => openClient(t, odd)))
  for (const client of clients) client.send(message('eth_subscribe', ['syncing']))
  await node.when('the subscribe call', () => node.socketRequests.length > asked)
  for (const client of clients) client.socket.terminate()
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, 0)
  gate.open()
  node.onSubscribe(() => 'accept')
  await node.when('it is answered', () => node.live('eth_subscribe', 'syncing').length === 1)
  const side = { network: 'alpha', side: 'client' }
  await metricIs(gateway, 'tollgate_ws_subscriptions', side, 0)
})

t.test('2000 subscribers are one subscription, and all get every head in order', async t => {
  const clients: SocketClient[] = []
  const subscriptions: string[] = []
  for (let i = 0; i < 20; i++) {
    const some = await Promise.all(Array.from({ length: 100 }, () => openClient(t, access)))
    clients.push(...some)
    subscriptions.push(...(await Promise.all(some.map(one => one.subscribe('eth_subscribe', ['newHeads'])))))
  }
  t.equal(new Set(subscriptions).size, 2_000)
  t.equal(node.live('eth_subscribe', 'newHeads').length, 1)
  t.equal(await metric(gateway, 'tollgate_ws_connections', { network: 'alpha' }), 2_000)
  const side = (which: string) =>
    metric(gateway, 'tollgate_ws_subscriptions', { network: 'alpha', side: which })
  t.equal(await side('client'), 2_000)
  t.ok((await side('upstream')) >= 1)
  const told = await metric(gateway, 'tollgate_ws_notifications_total', { network: 'alpha' })
  const heads = Array.from({ length: 5 }, () => chain.mine().hash)
  let complete = 0
  for (const [i, client] of clients.entries()) {
    await client.when('five heads', () => client.notifications(subscriptions[i]!).length >= 5)
    const got = client.notifications(subscriptions[i]!).map(({ hash }) => String(hash))
    if (got.join() === heads.join() && client.frames.length === 6) complete++
  }
  t.equal(complete, 2_000, 'each has five heads, in order, and nothing else')
  t.equal((await metric(gateway, 'tollgate_ws_notifications_total', { network: 'alpha' })) - told, 10_000)
  for (const [i, client] of clients.entries())
    if (i % 2 === 0) client.socket.terminate()
    else client.socket.close()
  await Promise.all(clients.map(({ closed }) => closed))
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, 0)
  t.equal(await side('client'), 0)
})

const seed = Date.now() % 2 ** 31
const random = new Random(seed)
const subscribeFrame = text(message('eth_subscribe', ['newHeads']))
const callFrame = text(message('web3_sha3', ['0x00']))
const offer = `POST ${odd.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nConnection: Upgrade\r\nUpgrade: h2c\r\nContent-Length: 5\r\n\r\n`

/** Bytes of which some were changed, left out or doubled. */
function mutated(bytes: Buffer): Buffer {
  const copy = Buffer.from(bytes)
  for (let i = random.below(4); i >= 0; i--) copy[random.below(copy.length)] = random.below(256)
  const at = random.below(copy.length)
  const from = random.below(copy.length)
  return random.below(3) === 0 ? Buffer.concat([copy.subarray(0, at), copy.subarray(from)]) : copy
}

/** Some frames, most of them not as they should be. */
function frames(): Buffer {
  const some = Array.from({ length: 1 + random.below(4) }, () =>
    random.pick([
      () => random.bytes(1 + random.below(64)),
      () => mutated(random.pick([subscribeFrame, callFrame])),
      () => frame(random.below(16), random.bytes(random.below(200)), random.below(2) === 0),
      () => random.pick([subscribeFrame, callFrame]),
      () => text(`[${message('eth_subscribe', ['newHeads'])},${message('eth_unsubscribe', ['0x1'])}]`),
      // A length that nobody will ever send, or may.
      () => Buffer.from([0x81, 0xff, ...random.bytes(8)]),
      () => frame(8, random.bytes(random.below(4))),
      () => frame(9, random.bytes(random.below(126))),
    ])(),
  )
  return Buffer.concat(some)
}

/** One connection that does something odd and goes. */
async function oddity(): Promise<void> {
  const socket = await openSocket(gateway.port)
  const whole = Buffer.from(handshakeOf(odd.path))
  const write = (bytes: Buffer) => new Promise(resolve => socket.write(bytes, resolve))
  const what = random.below(8)
  if (what === 0) await write(whole.subarray(0, random.below(whole.length)))
  else if (what === 1) await write(mutated(whole))
  else if (what === 2) await write(whole)
  else if (what === 3) await write(Buffer.concat([Buffer.from(offer), random.bytes(random.below(12))]))
  else if (what <= 5) await write(Buffer.concat([whole, frames()]))
  else {
    socket.write(whole)
    await Promise.race([once(socket, 'data'), once(socket, 'close')])
    if (!socket.destroyed) await write(frames())
  }
  if (random.below(4) === 0) {
    socket.resume()
    socket.end()
    await turn()
  }
  if (random.below(3) === 0) await turn()
  socket.resetAndDestroy()
}

t.test('10 000 odd connections leave the process alive and nothing behind', async t => {
  t.comment(`seed ${seed}`)
  let left = 10_000
  const worker = async () => {
    while (left-- > 0) await oddity()
  }
  await within('all of them', Promise.all(Array.from({ length: 50 }, worker)), 60_000)
  t.match(await access.call('web3_sha3', ['0x00']), { result: ['0x00'] })
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, 0)
  await metricIs(gateway, 'tollgate_ws_subscriptions', { network: 'alpha', side: 'client' }, 0)
  // All that the plan allows is there to be had: nothing counts as held that is not.
  const clients = await Promise.all(Array.from({ length: 60 }, () => openClient(t, odd)))
  const subscriptions = await Promise.all(clients.map(one => one.subscribe('eth_subscribe', ['newHeads'])))
  const { hash } = chain.mine()
  for (const [i, client] of clients.entries())
    t.match(await client.notified(subscriptions[i]!, 1), [{ hash }])
  for (const client of clients) await client.close()
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'alpha' }, 0)
  const alarms = gateway.printed.split('\n').filter(line => /"level":"(error|fatal)"/.test(line))
  t.strictSame(alarms, [], 'nothing that an operator would have to look at')
})

t.test('a reader without progress is closed, one that is slow is not', async t => {
  await pause(Math.max(0, queuedAt + patience - Date.now()))
  await metricIs(gateway, 'tollgate_ws_connections', { network: 'heavy' }, 1, 15_000)
  t.notOk(steady.destroyed || steady.readableEnded, 'slow is not still')
  stalled.socket.resume()
  const { code } = await stalled.closedBy('a reader that makes no progress')
  // Its close frame stands behind what it did not read: it may be cut off before it gets there.
  t.ok([1013, 1006].includes(code), `code ${code}`)
  t.ok(stalled.frames.length < pieces, `it got ${stalled.frames.length} of ${pieces}`)
  steady.destroy()
  await metricIs(gateway, 'tollgate_ws_connections', {}, 0)
})

t.test('after the grace no subscription is left at the nodes', async t => {
  for (const one of [node, heavyNode])
    await one.when('no subscription', () => one.live().length === 0, 30_000)
  await metricIs(gateway, 'tollgate_ws_subscriptions', {}, 0)
  t.ok(node.socketRequests.some(({ method }) => method === 'eth_unsubscribe'))
})
