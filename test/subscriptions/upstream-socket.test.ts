import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { WebSocketServer, type WebSocket } from 'ws'
import type { Notification } from '../../src/subscriptions/socket/frame.ts'
import { ReadingTurns } from '../../src/subscriptions/socket/reading-turns.ts'
import { UpstreamSocket } from '../../src/subscriptions/socket/upstream-socket.ts'
import type { Route } from '../../src/snapshot/types.ts'
import { until } from '../support/until.ts'

interface Sent {
  readonly id: number
  readonly method: string
  readonly params: readonly unknown[]
}

/** One socket of ours to a node that answers what the test says, when it says it. */
async function open(t: Test) {
  const server = new WebSocketServer({ port: 0, host: '127.0.0.1' })
  await once(server, 'listening')
  const connected = once(server, 'connection') as Promise<[WebSocket]>
  const bugs: unknown[] = []
  const floods: string[] = []
  /** Whether calls may be the reason, of each loss. */
  const lost: boolean[] = []
  const { port } = server.address() as AddressInfo
  const route = { id: 'a', ws: `ws://127.0.0.1:${port}`, headers: {} } as Route
  const socket = await UpstreamSocket.open(route, 2_000, {
    turns: new ReadingTurns(),
    budget: null,
    pingEvery: () => 15_000,
    onBug: error => bugs.push(error),
    onCut: why => floods.push(why),
    onLost: isSuspect => lost.push(isSuspect),
  })
  const [node] = await connected
  const sent: Sent[] = []
  node.on('message', data => sent.push(JSON.parse((data as Buffer).toString()) as Sent))
  t.teardown(() => {
    socket.close()
    node.terminate()
    server.close()
  })
  return {
    socket,
    node,
    bugs,
    floods,
    lost,
    sent,
    asked: (count: number) => until(`${count} requests`, () => Promise.resolve(sent.length >= count)),
    reply: (id: number, result: string) => {
      node.send(`{"jsonrpc":"2.0","id":${id},"result":${result}}`)
    },
    push: (subscription: string, result: string) => {
      const params = `{"result":${result},"subscription":${subscription}}`
      node.send(`{"jsonrpc":"2.0","method":"logsNotification","params":${params}}`)
    },
  }
}

const call = (label: string, name = 'one', isKnown = false) => ({
  method: 'logsSubscribe',
  params: `["${label}"]`,
  unsubscribe: 'logsUnsubscribe',
  name,
  isKnown,
})

/** A listener, and what it heard. */
function hearing() {
  const heard: string[] = []
  return { heard, listener: ({ result }: Notification) => void heard.push(result) }
}

t.test(
  'an id that is given twice has two listeners, and is unsubscribed from once, with the last',
  async t => {
    const { socket, sent, asked, reply, push } = await open(t)
    const [first, second] = [hearing(), hearing()]
    const begun = [socket.subscribe(call('x'), first.listener), socket.subscribe(call('y'), second.listener)]
    await asked(2)
    reply(1, '7')
    reply(2, '7')
    t.match(await Promise.all(begun), [{ id: '7' }, { id: '7' }])
    push('7', '"both"')
    await until('both have heard', () => Promise.resolve(first.heard.length + second.heard.length === 2))
    await socket.leave('7', first.listener, 'logsUnsubscribe')
    await socket.leave('7', first.listener, 'logsUnsubscribe')
    push('7', '"one"')
    await until('the second has heard', () => Promise.resolve(second.heard.length === 2))
    t.strictSame(first.heard, ['"both"'])
    t.equal(sent.length, 2)
    t.notOk(socket.isIdle)
    const left = socket.leave('7', second.listener, 'logsUnsubscribe')
    await asked(3)
    t.match(sent[2], { method: 'logsUnsubscribe', params: [7] })
    reply(3, 'true')
    await left
    t.ok(socket.isIdle)
  },
)

t.test('who is given an id that has been ended since subscribes again', async t => {
  const { socket, sent, asked, reply, push } = await open(t)
  const [leaving, coming] = [hearing(), hearing()]
  const begun = socket.subscribe(call('x'), leaving.listener)
  await asked(1)
  reply(1, '7')
  await begun
  const again = socket.subscribe(call('y'), coming.listener)
  const left = socket.leave('7', leaving.listener, 'logsUnsubscribe')
  await asked(3)
  // The node took the second for equal to the first, and then read that it is to be ended.
  reply(2, '7')
  reply(3, 'true')
  await left
  await asked(4)
  t.match(sent[3], { method: 'logsSubscribe', params: ['y'] })
  reply(4, '7')
  t.match(await again, { id: '7' })
  push('7', '"heard"')
  await until('it has heard', () => Promise.resolve(coming.heard.length === 1))
  t.strictSame(leaving.heard, [])
})

t.test('what a frame handler throws is a bug, and costs the socket only', async t => {
  const { socket, asked, reply, push, bugs } = await open(t)
  const begun = socket.subscribe(call('x'), () => {
    throw new Error('odd')
  })
  await asked(1)
  reply(1, '7')
  await begun
  const closed = new Promise<void>(resolve => socket.whenClosed(resolve))
  push('7', '1')
  await closed
  t.match(bugs, [{ message: 'odd' }])
  t.equal(await socket.ask('eth_blockNumber', '[]'), null)
})

t.test('nobody is called at the end of a socket that they no longer watch', async t => {
  const { socket } = await open(t)
  let called = 0
  const unwatch = socket.whenClosed(() => called++)
  socket.whenClosed(() => called++)
  unwatch()
  socket.close()
  t.equal(called, 1)
})

t.test('frames that take long to handle do not hold up the loop: each turn has its share', async t => {
  const { socket, asked, reply, push } = await open(t)
  let handled = 0
  const begun = socket.subscribe(call('x'), () => {
    const end = performance.now() + 2
    while (performance.now() < end);
    handled++
  })
  await asked(1)
  reply(1, '7')
  await begun
  const frames = 300
  for (let i = 0; i < frames; i++) push('7', String(i))
  let most = 0
  while (handled < frames) {
    const before = handled
    await turn()
    most = Math.max(most, handled - before)
  }
  // All of them fit into one piece of what a socket reads at a time.
  t.ok(most <= 20, `${most} frames in one turn`)
})

t.test('frames that are for nobody are a flood', async t => {
  const { socket, node, floods } = await open(t)
  const closed = new Promise<void>(resolve => socket.whenClosed(resolve))
  for (let i = 0; i < 10_001; i++) node.send('{}')
  await closed
  t.equal(floods.length, 1)
})

t.test(
  'a socket that ends during first subscribe calls ends for their callers, unless it carried nothing',
  async t => {
    for (const carries of [true, false]) {
      const { socket, node, asked, reply, lost } = await open(t)
      if (carries) {
        const carried = socket.subscribe(call('carried', 'other'), () => undefined)
        await asked(1)
        reply(1, '7')
        await carried
      }
      const begun = [
        socket.subscribe(call('x', 'one'), () => undefined),
        socket.subscribe(call('y', 'two'), () => undefined),
        socket.subscribe(call('z', 'three', true), () => undefined),
      ]
      await asked(begun.length + Number(carries))
      t.notOk(socket.isClosedFor('one', 'any'))
      node.terminate()
      t.strictSame(await Promise.all(begun), [null, null, null])
      t.strictSame(
        ['one', 'two', 'three', 'other'].map(name => socket.isClosedFor(name, 'any')),
        [true, true, true, false],
      )
      t.strictSame(
        ['one', 'two', 'three'].map(name => socket.isClosedFor(name, 'oldest')),
        [true, false, false],
      )
      t.strictSame(lost, [carries], 'a route that ends its sockets by itself is held to account')
    }
  },
)

t.test(
  'one that ends while it recovers subscriptions is held against its route; one that we cut ends for nobody',
  async t => {
    for (const how of ['recovers', 'cut'] as const) {
      const { socket, node, asked, reply, lost } = await open(t)
      const carried = socket.subscribe(call('carried', 'other'), () => undefined)
      await asked(1)
      reply(1, '7')
      await carried
      const begun = socket.subscribe(call('x', 'one', how === 'recovers'), () => undefined)
      await asked(2)
      if (how === 'cut') socket.drop('a test')
      else node.terminate()
      t.equal(await begun, null)
      t.equal(socket.isClosedFor('one', 'oldest'), how === 'recovers')
      t.strictSame(lost, [false])
    }
  },
)
