import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t, { type Test } from 'tap'
import { Connections } from '../../src/routes/transport/connections.ts'
import { Collector } from '../../src/routes/transport/collector.ts'
import type { Exchange } from '../../src/routes/transport/exchange.ts'
import { until } from '../support/until.ts'

const LIMITS = { timeout: 5_000, holdBack: Infinity, maxBytes: null, signal: null }

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
  return { origin, seen, held, answer: () => held.pop()?.end('late') }
}

/** Resolves when the reply is here and its connection is free again. */
async function ask(connections: Connections, path: string): Promise<Exchange> {
  const exchange = await new Promise<Exchange>(resolve => {
    connections.dispatch({ path, method: 'GET' }, new Collector(LIMITS, resolve))
  })
  await new Promise(setImmediate)
  return exchange
}

/** Each call finds the connections of the one before too old. */
function ageing(origin: string): Connections {
  let calls = 0
  return new Connections({ origin, most: 8, connectTimeout: 1_000, now: () => (calls += 1) * 700_000 })
}

t.test('connections are kept, and made anew when they are old', async t => {
  const node = await upstream(t)
  let minutes = 0
  const now = () => minutes * 60_000
  const connections = new Connections({ origin: node.origin, most: 8, connectTimeout: 1_000, now })
  const slow = ask(connections, '/held')
  await until('the held call is there', () => Promise.resolve(node.held.length === 1))
  t.match(await ask(connections, '/'), { kind: 'whole', status: 200, body: 'at once' })
  t.match(await ask(connections, '/'), { kind: 'whole' })
  t.equal(node.seen.opened, 2, 'the second call took the connection of the first')
  minutes = 9
  await ask(connections, '/')
  t.equal(node.seen.opened, 2, 'nor are they old after nine minutes')
  minutes = 11
  await ask(connections, '/')
  t.equal(node.seen.opened, 3)
  node.answer()
  t.match(await slow, { kind: 'whole', body: 'late' }, 'what was under way on an old one is answered')
  await until('the old ones are closed', () => Promise.resolve(node.seen.open === 1))
  await connections.close()
  await until('all are closed', () => Promise.resolve(node.seen.open === 0))
})

t.test('closing waits for calls on old connections too; destroying does not', async t => {
  const node = await upstream(t)
  const connections = ageing(node.origin)
  const calls = [ask(connections, '/held'), ask(connections, '/held')]
  await until('both are there', () => Promise.resolve(node.held.length === 2))
  const closed = connections.close()
  node.answer()
  node.answer()
  t.match(await Promise.all(calls), [{ body: 'late' }, { body: 'late' }])
  await closed

  const cut = ageing(node.origin)
  const lost = [ask(cut, '/held'), ask(cut, '/held')]
  await until('both are there', () => Promise.resolve(node.held.length === 2))
  await cut.destroy()
  t.match(await Promise.all(lost), [
    { kind: 'broken', how: 'reset', sent: true },
    { kind: 'broken', how: 'reset', sent: true },
  ])
})

t.test('a call after the end is the last one, or is refused', async t => {
  const node = await upstream(t)
  const connections = new Connections({ origin: node.origin, most: 8, connectTimeout: 1_000 })
  await connections.close()
  t.match(await ask(connections, '/'), { kind: 'whole', body: 'at once' }, 'none was open: it is served')
  t.match(await ask(connections, '/'), { kind: 'broken', how: 'unreachable', sent: false })
})
