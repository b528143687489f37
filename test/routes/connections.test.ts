import { constants } from 'node:crypto'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer as createTcp } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { createServer as createTls } from 'node:tls'
import t, { type Test } from 'tap'
import { LONG, LongText } from '../../src/jsonrpc/long-text.ts'
import { Departure } from '../../src/net/departure.ts'
import { RouteLimits } from '../../src/routes/route-limits.ts'
import type { Connection, Handler } from '../../src/routes/transport/connection.ts'
import { Connections } from '../../src/routes/transport/connections.ts'
import { Collector } from '../../src/routes/transport/collector.ts'
import type { Exchange } from '../../src/routes/transport/exchange.ts'
import { RouteClient } from '../../src/routes/transport/route-client.ts'
import type { Route } from '../../src/snapshot/types.ts'
import { certificates } from '../support/tls.ts'
import { until } from '../support/until.ts'

const LIMITS = { timeout: 5_000, holdBack: Infinity, maxBytes: null, departure: null }

/** An upstream that counts its connections; `/held` is answered when `answer` is called. */
async function upstream(t: Test) {
  const held: ServerResponse[] = []
  const seen = { opened: 0, open: 0, requests: 0 }
  const server = createServer((request: IncomingMessage, response) => {
    seen.requests += 1
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

const get = (path: string) => `GET ${path} HTTP/1.1\r\nhost: node\r\n\r\n`

/** Resolves when the reply is here and its connection is free again. */
async function ask(connections: Connections, path: string): Promise<Exchange> {
  const exchange = await new Promise<Exchange>(resolve => {
    connections.dispatch(get(path), new Collector(LIMITS, resolve))
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

t.test('what throws while a reply is read costs its request, and not the process', async t => {
  const node = await upstream(t)
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
  const unheard = { onSent: () => undefined, onHead: () => undefined, onComplete: () => undefined }
  const broken = (more: Partial<Handler>) =>
    new Promise<Error>(resolve => {
      const onData = () => {
        throw new Error('as a bug does')
      }
      connections.dispatch(get('/'), { ...unheard, onData, onError: resolve, ...more })
    })
  t.match(await broken({}), { message: 'as a bug does' })
  await seen('its connection is gone', () => node.seen.open === 0)
  const onComplete = () => {
    throw new Error('behind the end')
  }
  t.match(await broken({ onData: () => undefined, onComplete }), { message: 'behind the end' })
  t.match(await ask(connections, '/'), { kind: 'whole', body: 'at once' }, 'another takes its place')
  await connections.destroy()
})

/** An upstream that speaks as `speak` does, once for each request; the texts that it was sent. */
async function speaking(t: Test, speak: (socket: Socket, nth: number) => void) {
  const texts: string[] = []
  let opened = 0
  const server = createTcp(socket => {
    opened += 1
    socket.on('error', () => undefined)
    socket.on('data', (bytes: Buffer) => {
      texts.push(bytes.toString('latin1'))
      speak(socket, texts.length)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  return { origin: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, texts, opened: () => opened }
}

const said = (body: string, head = '') =>
  `HTTP/1.1 200 OK\r\n${head}Content-Length: ${body.length}\r\n\r\n${body}`

t.test('an upstream that closes each connection without a word loses no call', async t => {
  const node = await speaking(t, socket => socket.end(said('bye')))
  const connections = new Connections({ origin: node.origin, most: 4, connectTimeout: 1_000 })
  for (let round = 0; round < 20; round += 1) {
    const exchanges = await Promise.all(Array.from({ length: 8 }, () => ask(connections, '/')))
    t.strictSame(
      exchanges.map(each => each.kind === 'whole' && each.body),
      Array(8).fill('bye'),
    )
  }
  t.equal(node.texts.length, 160)
  await connections.destroy()
})

t.test('an upstream that has left a hundred connections open has requests sent at once', async t => {
  const node = await speaking(t, socket => socket.write(said('hello')))
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
  /** Whether the request has left when the turn of the loop that sent it is over. */
  const isAtOnce = async (): Promise<boolean> => {
    let isSent = false
    const over = new Promise<void>((onComplete, onError) => {
      const onSent = () => (isSent = true)
      connections.dispatch(get('/'), {
        onSent,
        onHead: () => undefined,
        onData: () => undefined,
        onComplete,
        onError,
      })
    })
    const atOnce = isSent
    await over
    return atOnce
  }
  for (let i = 0; i < 101; i += 1) t.equal(await isAtOnce(), false)
  t.equal(await isAtOnce(), true)
  t.equal(node.opened(), 1)
  await connections.destroy()
})

t.test("what comes unasked ends the connection, and is nobody else's reply", async t => {
  for (const [name, speak] of [
    ['behind a reply', (socket: Socket) => socket.write(said('mine') + said('stale'))],
    [
      'a moment later',
      (socket: Socket) => socket.write(said('mine'), () => setImmediate(() => socket.write(said('stale')))),
    ],
  ] as const) {
    let sockets = 0
    const gone = new Set<Socket>()
    const node = await speaking(t, socket => {
      if (!gone.has(socket)) sockets += 1
      gone.add(socket)
      speak(socket)
    })
    const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
    t.match(await ask(connections, '/'), { kind: 'whole', body: 'mine' }, name)
    await seen('the connection is closed', () => [...gone].every(socket => socket.destroyed))
    t.match(await ask(connections, '/'), { kind: 'whole', body: 'mine' }, name)
    t.equal(sockets, 2)
    await connections.destroy()
  }
})

t.test('what is no HTTP/1.1 is a reply to nobody', async t => {
  const node = await speaking(t, socket => socket.write('220 mail.example ESMTP\r\n\r\n'))
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
  t.match(await ask(connections, '/'), { kind: 'broken', how: 'reset', sent: true })
  await connections.destroy()
})

t.test('a connection is used for as long as the upstream says that it keeps it', async t => {
  const heads = ['Connection: close\r\n', 'Keep-Alive: timeout=1\r\n', 'Keep-Alive: timeout=5\r\n']
  const node = await speaking(t, (socket, nth) => socket.write(said('x', heads[nth - 1])))
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
  for (const opened of [1, 2, 3, 3]) {
    await ask(connections, '/')
    t.equal(node.opened(), opened)
  }
  await connections.destroy()
})

t.test(
  'bug: one that an upstream keeps for a moment only was kept for as long as those before it',
  async t => {
    const heads = ['', 'Keep-Alive: timeout=2\r\n']
    const node = await speaking(t, (socket, nth) => socket.write(said('x', heads[nth - 1])))
    const connections = new Connections({ origin: node.origin, most: 2, connectTimeout: 60_000 })
    const delays: number[] = []
    const { setTimeout } = globalThis
    t.teardown(() => (globalThis.setTimeout = setTimeout))
    globalThis.setTimeout = ((work: () => void, ms: number) => {
      delays.push(ms)
      return setTimeout(work, ms)
    }) as typeof setTimeout
    await Promise.all([ask(connections, '/'), ask(connections, '/')])
    t.equal(node.opened(), 2)
    const looks = delays.filter(ms => ms <= 4_000)
    t.ok(looks.at(-1)! <= 1_000, `looks for what has been idle for too long after ${looks.join(', ')} ms`)
    await connections.destroy()
  },
)

t.test('a long request leaves piece by piece, and other work is done between two pieces', async t => {
  const body = Buffer.from(Array.from({ length: 500_000 }, (_, i) => `${i},`).join(''))
  const received: Buffer[] = []
  const server = createServer((request, response) => {
    request.on('data', (piece: Buffer) => received.push(piece))
    request.on('end', () => response.end('thanks'))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const connections = new Connections({ origin, most: 1, connectTimeout: 1_000 })
  t.teardown(() => connections.destroy())
  const text = body.toString('latin1')
  const head = `POST / HTTP/1.1\r\nhost: node\r\ncontent-length: ${body.length}\r\n\r\n`
  for (const again of [1, 2]) {
    received.length = 0
    const seen = { turns: 0, isOver: false }
    const count = () => {
      seen.turns += 1
      if (!seen.isOver) setImmediate(count)
    }
    setImmediate(count)
    const exchange = await new Promise<Exchange>(resolve => {
      const parts = [head, text.slice(0, 1_000_000), text.slice(1_000_000)]
      const request = new LongText(parts.map(raw => ({ raw })))
      connections.dispatch(request, new Collector(LIMITS, resolve))
    })
    seen.isOver = true
    t.match(exchange, { kind: 'whole', body: 'thanks' }, `request ${again}`)
    t.ok(Buffer.concat(received).equals(body), 'what arrived is what was sent')
    t.ok(seen.turns > body.length / LONG, `${seen.turns} turns`)
  }
  t.equal(
    await new Promise(resolve => server.getConnections((_, count) => resolve(count))),
    1,
    'on one connection',
  )
})

t.test('a reply that comes before the whole request has left ends the connection', async t => {
  const server = createTcp(socket => {
    socket.on('error', () => undefined)
    // Reads no further than what one read brings.
    socket.once('data', () => socket.pause().write(said('early')))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const origin = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const body = 'x'.repeat(32 * 1024 * 1024)
  const head = `POST / HTTP/1.1\r\nhost: node\r\ncontent-length: ${body.length}\r\n\r\n`
  for (const text of [head + body, new LongText([{ raw: head }, { raw: body }])]) {
    const connections = new Connections({ origin, most: 1, connectTimeout: 1_000 })
    const exchange = await new Promise(resolve => {
      connections.dispatch(text, new Collector(LIMITS, resolve))
    })
    t.match(exchange, { kind: 'whole', body: 'early' })
    t.match(await ask(connections, '/'), { kind: 'whole', body: 'early' }, 'over another one')
    await connections.destroy()
  }
})

t.test(
  'bug: over TLS whoever asked behind a reply that ended while it was paused was never answered',
  async t => {
    // Nothing but what comes over the connection is looked at here.
    process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
    t.teardown(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
    const body = 'x'.repeat(30_000)
    // Two records, which one read brings.
    const server = createTls(certificates.first, socket => {
      socket.on('data', () => socket.write(said(body)))
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const connections = new Connections({
      origin: `https://127.0.0.1:${port}`,
      most: 1,
      connectTimeout: 5_000,
    })
    for (let i = 0; i < 5; i += 1) {
      const read = new Promise<number>((resolve, onError) => {
        let bytes = 0
        let connection: Connection | null = null
        const handler: Handler = {
          onSent: over => (connection = over),
          onHead: () => undefined,
          onData: piece => {
            bytes += piece.length
            connection?.pause()
            setImmediate(() => connection?.resume(handler))
          },
          onComplete: () => {
            resolve(bytes)
          },
          onError,
        }
        connections.dispatch(get('/'), handler)
      })
      t.equal(await read, body.length)
      t.match(await ask(connections, '/'), { kind: 'whole', body })
    }
    await connections.destroy()
  },
)

t.test('bug: a session that the upstream broke off at was offered to it for ever', async t => {
  process.env['NODE_TLS_REJECT_UNAUTHORIZED'] = '0'
  t.teardown(() => delete process.env['NODE_TLS_REJECT_UNAUTHORIZED'])
  const options = { maxVersion: 'TLSv1.2', secureOptions: constants.SSL_OP_NO_TICKET } as const
  const server = createTls({ ...certificates.first, ...options }, socket => {
    socket.on('data', () => socket.end(said('hello', 'Connection: close\r\n')))
  })
  const stored = new Set<string>()
  server.on('newSession', (id: Buffer, _data, done: () => void) => {
    stored.add(id.toString('hex'))
    done()
  })
  server.on('resumeSession', (id: Buffer, done: (error: Error | null, data: null) => void) => {
    done(stored.has(id.toString('hex')) ? new Error('as a broken store does') : null, null)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => server.close())
  const { port } = server.address() as AddressInfo
  const connections = new Connections({
    origin: `https://127.0.0.1:${port}`,
    most: 1,
    connectTimeout: 5_000,
  })
  t.match(await ask(connections, '/'), { kind: 'whole', body: 'hello' })
  t.match(await ask(connections, '/'), { kind: 'broken', how: 'unreachable', sent: false })
  t.match(await ask(connections, '/'), { kind: 'whole', body: 'hello' })
  await connections.destroy()
})

t.test('bug: a request was sent over a connection that had broken, and was not closed yet', async t => {
  const sockets: Socket[] = []
  const node = await speaking(t, socket => {
    if (!sockets.includes(socket)) sockets.push(socket)
    socket.write(said('hello'))
  })
  const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 10_000 })
  let mine: Socket | null = null
  const take = (message: unknown): void => {
    mine = (message as { readonly socket: Socket }).socket
  }
  subscribe('net.client.socket', take)
  for (let i = 0; i < 102; i += 1) await ask(connections, '/')
  unsubscribe('net.client.socket', take)
  const answer = new Promise<Exchange>(resolve => {
    mine!.once('error', () => {
      setImmediate(() => {
        connections.dispatch(get('/'), new Collector(LIMITS, resolve))
      })
    })
  })
  sockets.at(-1)!.resetAndDestroy()
  t.match(await answer, { kind: 'whole', body: 'hello' })
  await connections.destroy()
})

t.test(
  'bug: who gave up before a connection was made kept it from the others, and the request in memory',
  async t => {
    const node = await upstream(t)
    const connections = new Connections({ origin: node.origin, most: 1, connectTimeout: 1_000 })
    const ends: string[] = []
    const gone: Handler = {
      onHead: () => undefined,
      onData: () => undefined,
      onSent: () => ends.push('sent'),
      onComplete: () => ends.push('complete'),
      onError: () => ends.push('error'),
    }
    const [first, third] = [{ ...gone }, { ...gone }]
    connections.dispatch(get('/held'), first)
    const second = ask(connections, '/')
    connections.dispatch(get('/held'), third)
    connections.withdraw(first)
    connections.withdraw(third)
    t.match(await second, { kind: 'whole', body: 'at once' })
    t.strictSame([ends, node.seen.opened, node.held.length], [[], 1, 0])
    await connections.close()

    // One that speaks no TLS: no connection to it is ever made.
    const silent = await speaking(t, () => undefined)
    const route = {
      id: 'a',
      network: 'eth',
      http: silent.origin.replace('http:', 'https:'),
      headers: {},
      limits: { inFlight: 1, perSecond: null },
    } as Route
    const client = new RouteClient(route, 600_000, new RouteLimits('a', route.limits))
    for (const opened of [1, 2, 3]) {
      const departure = new Departure()
      const sender = { caller: 'account', begun: () => undefined, departure: () => departure }
      const exchange = new Promise(resolve => {
        client.post('{}', { ...LIMITS, timeout: 600_000, departure }, sender, resolve)
      })
      await seen('its connection is being made', () => silent.opened() === opened)
      departure.leave()
      t.strictSame(await exchange, { kind: 'broken', how: 'aborted', sent: false })
    }
    await client.close()
  },
)

/** A client of a route with one connection. */
function clientOf(origin: string): RouteClient {
  const route = {
    id: 'a',
    network: 'eth',
    http: origin,
    headers: {},
    limits: { inFlight: 1, perSecond: null },
  } as Route
  return new RouteClient(route, 1_000, new RouteLimits('a', route.limits))
}

/** Posts a call; `leave` is the client that goes away. */
function post(client: RouteClient): { readonly exchange: Promise<Exchange>; readonly leave: () => void } {
  const departure = new Departure()
  const sender = { caller: 'account', begun: () => undefined, departure: () => departure }
  const exchange = new Promise<Exchange>(resolve => {
    client.post('{}', { ...LIMITS, departure }, sender, resolve)
  })
  return {
    exchange,
    leave: () => {
      departure.leave()
    },
  }
}

t.test('bug: a call that left before it was sent over a used connection cost that connection', async t => {
  const node = await upstream(t)
  const client = clientOf(node.origin)
  await post(client).exchange
  for (const behind of [0, 1, 2]) {
    const gone = post(client)
    const others = Array.from({ length: behind }, () => post(client).exchange)
    gone.leave()
    t.strictSame(await gone.exchange, { kind: 'broken', how: 'aborted', sent: false })
    t.match(await Promise.all(others), Array(behind).fill({ kind: 'whole', body: 'at once' }))
    t.match(await post(client).exchange, { kind: 'whole', body: 'at once' })
  }
  t.strictSame([node.seen.opened, node.seen.requests], [1, 7], 'nothing was sent of those that left')
  await client.close()
  await seen('it is closed', () => node.seen.open === 0)
})

t.test('bug: a client that was closed made a connection for each call that waited', async t => {
  const node = await upstream(t)
  const client = clientOf(`${node.origin}/held`)
  const calls = Array.from({ length: 10 }, () => post(client).exchange)
  await seen('the first is there', () => node.held.length === 1)
  const closed = client.close()
  for (const call of calls) {
    await seen('the next is there', () => node.held.length === 1)
    node.answer()
    t.match(await call, { kind: 'whole', body: 'late' })
  }
  t.equal(node.seen.opened, 1)
  await closed
  await seen('it is closed', () => node.seen.open === 0)

  const other = await upstream(t)
  const connections = new Connections({ origin: other.origin, most: 1, connectTimeout: 1_000 })
  const own = [ask(connections, '/held'), ask(connections, '/'), ask(connections, '/')]
  await seen('the first is there', () => other.held.length === 1)
  const over = connections.close()
  other.answer()
  t.match(await Promise.all(own), [{ body: 'late' }, { body: 'at once' }, { body: 'at once' }])
  t.equal(other.seen.opened, 1, 'nor did the connections themselves')
  await over
  await seen('that one is closed', () => other.seen.open === 0)
})

t.test('a reply of many small pieces is put together as it came', async t => {
  const text = Array.from({ length: 3_000 }, (_, i) => `${i} `)
  const exchange = new Promise(resolve => {
    const collector = new Collector(LIMITS, resolve)
    collector.onHead({ status: 200, length: null, retryAfter: null, lines: '', keptFor: 0 })
    for (const [i, piece] of text.entries()) {
      collector.onData(Buffer.from(piece))
      if (i % 700 === 0) collector.onData(Buffer.alloc(300_000, '-'))
    }
    collector.onComplete()
  })
  t.match(await exchange, {
    kind: 'whole',
    body: text.map((piece, i) => (i % 700 === 0 ? piece + '-'.repeat(300_000) : piece)).join(''),
  })
})
