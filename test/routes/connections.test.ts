import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { Connections } from '../../src/routes/transport/connections.ts'
import type { Handler } from '../../src/routes/transport/connections.ts'
import { Collector } from '../../src/routes/transport/collector.ts'
import type { Exchange } from '../../src/routes/transport/exchange.ts'
import { until } from '../support/until.ts'

const LIMITS = { timeout: 5_000, holdBack: Infinity, maxBytes: null, departure: null }

/** An upstream that counts its connections; `/held` is answered when `answer` is called. */
async function upstream(t: Test) {
  const held: ServerResponse[] = []
  const seen = { opened: 0, open: 0 }
  const server = createServer((request: IncomingMessage, response) => {
    if (request.url === '/held') held.push(response)
    else response.end('at once')
  })
  server.on('connection', socket => {
    seen.opened += 1
    seen.open += 1
    socket.once('close', () => (seen.open -= 1))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const closeIdle = () => {
    server.closeIdleConnections()
  }
  return { origin, seen, held, closeIdle, answer: () => held.pop()?.end('late') }
}

/** Resolves when the reply is here and its connection is free again. */
async function ask(connections: Connections, path: string): Promise<Exchange> {
  const exchange = await new Promise<Exchange>(resolve => {
    connections.dispatch({ path, method: 'GET' }, new Collector(LIMITS, resolve))
  })
  await new Promise(setImmediate)
  return exchange
}

const seen = (what: string, holds: () => boolean) => until(what, () => Promise.resolve(holds()))

t.test('connections are kept, the last one used is used next, and old ones are made anew', async t => {
  const node = await upstream(t)
  const connections = new Connections({ origin: node.origin, most: 8, connectTimeout: 1_000, age: 300 })
  const slow = ask(connections, '/held')
  await seen('the held call is there', () => node.held.length === 1)
  t.match(await ask(connections, '/'), { kind: 'whole', status: 200, body: 'at once' })
  t.match(await ask(connections, '/'), { kind: 'whole' })
  t.equal(node.seen.opened, 2, 'the second call took the connection of the first')
  await seen('what is idle and old is closed', () => node.seen.open === 1)
  await ask(connections, '/')
  t.equal(node.seen.opened, 3)
  node.answer()
  t.match(await slow, { kind: 'whole', body: 'late' }, 'what was under way on an old one is answered')
  await seen('that one is closed too', () => node.seen.open <= 1)
  await connections.close()
  await seen('all are closed', () => node.seen.open === 0)
})

t.test('there are no more than may be: what is over the bound waits for the first that is free', async t => {
  const node = await upstream(t)
  const connections = new Connections({ origin: node.origin, most: 2, connectTimeout: 1_000 })
  const held = [ask(connections, '/held'), ask(connections, '/held')]
  await seen('both are there', () => node.held.length === 2)
  const waiting = [ask(connections, '/'), ask(connections, '/')]
  node.answer()
  t.match(await Promise.all(waiting), [{ body: 'at once' }, { body: 'at once' }])
  t.equal(node.seen.opened, 2)
  node.answer()
  t.match(await Promise.all(held), [{ body: 'late' }, { body: 'late' }])
  await connections.close()
  await seen('all are closed', () => node.seen.open === 0)
})

t.test('a connection that broke is let go of, and another takes its place for what waits', async t => {
  const node = await upstream(t)
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
  const cut = ask(connections, '/held')
  await seen('it is there', () => node.held.length === 1)
  const waiting = ask(connections, '/')
  node.held.pop()!.destroy()
  t.match(await cut, { kind: 'broken', how: 'reset', sent: true })
  t.match(await waiting, { kind: 'whole', body: 'at once' })
  t.equal(node.seen.opened, 2)
  await connections.close()
})

t.test('an idle connection that the upstream closes is not used again', async t => {
  const node = await upstream(t)
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
  await ask(connections, '/')
  node.closeIdle()
  await seen('it is closed', () => node.seen.open === 0)
  t.match(await ask(connections, '/'), { kind: 'whole', body: 'at once' })
  t.equal(node.seen.opened, 2)
  await connections.close()
})

t.test('an upstream that is not there costs a call no more than its own', async t => {
  const connections = new Connections({ origin: 'http://127.0.0.1:1', most: 1, connectTimeout: 1_000 })
  const calls = [ask(connections, '/'), ask(connections, '/'), ask(connections, '/')]
  for (const call of calls) t.match(await call, { kind: 'broken', how: 'unreachable', sent: false })
  await connections.close()
})

t.test(
  'closing waits for calls, also for those that have no connection yet; destroying does not',
  async t => {
    const node = await upstream(t)
    const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
    const calls = [ask(connections, '/held'), ask(connections, '/')]
    await seen('the first is there', () => node.held.length === 1)
    const closed = connections.close()
    node.answer()
    t.match(await Promise.all(calls), [{ body: 'late' }, { body: 'at once' }])
    await closed
    await seen('all are closed', () => node.seen.open === 0)

    const cut = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
    const lost = [ask(cut, '/held'), ask(cut, '/')]
    await seen('the first is there', () => node.held.length === 1)
    await cut.destroy()
    t.match(await Promise.all(lost), [
      { kind: 'broken', how: 'reset', sent: true },
      { kind: 'broken', how: 'unreachable', sent: false },
    ])
    await seen('all are cut', () => node.seen.open === 0)
  },
)

t.test(
  'a call behind the close is served, and its connection ends; behind the cut it is refused',
  async t => {
    const node = await upstream(t)
    const connections = new Connections({ origin: node.origin, most: 8, connectTimeout: 1_000 })
    await connections.close()
    t.match(await ask(connections, '/'), { kind: 'whole', body: 'at once' })
    await seen('it is closed', () => node.seen.open === 0)
    await connections.destroy()
    t.match(await ask(connections, '/'), { kind: 'broken', how: 'unreachable', sent: false })
  },
)

t.test('what throws on an event of a socket costs its request, and not the process', async t => {
  const node = await upstream(t)
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
  const broken = new Promise<Error>(resolve => {
    const handler = {
      connection: null as Handler['connection'],
      onConnect: () => undefined,
      onHeaders: () => true,
      onData: () => true,
      onComplete: () => undefined,
      onEnd: () => {
        throw new Error('as an assertion does')
      },
      onError: (error: Error) => {
        handler.connection?.failed()
        resolve(error)
      },
    }
    connections.dispatch({ path: '/held', method: 'GET' }, handler)
  })
  await seen('the held call is there', () => node.held.length === 1)
  node.held.pop()!.socket!.end()
  t.match(await broken, { message: 'as an assertion does' })
  await seen('its connection is gone', () => node.seen.open === 0)
  t.match(await ask(connections, '/'), { kind: 'whole', body: 'at once' }, 'another takes its place')
  await connections.destroy()
})
