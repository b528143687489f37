import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as nextTurn } from 'node:timers/promises'
import t, { type Test } from 'tap'
import type { Route } from '../../src/snapshot/types.ts'
import { Departure } from '../../src/net/departure.ts'
import { LiveRoute } from '../../src/routes/live-route.ts'
import { within } from '../support/until.ts'

const limits = { timeout: 5_000, holdBack: 64 * 1024, maxBytes: null, departure: null }

/** A live route to a real server that behaves as told. */
async function routeTo(t: Test, listener: RequestListener, path = ''): Promise<LiveRoute> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await new Promise(resolve => server.once('listening', resolve))
  t.teardown(() => server.closeAllConnections())
  t.teardown(() => server.close())
  return open(t, `http://user:p%40ss@127.0.0.1:${(server.address() as AddressInfo).port}${path}`)
}

function open(t: Test, http: string): LiveRoute {
  const route: Route = {
    id: 'a',
    network: 'eth',
    http,
    ws: null,
    capabilities: [],
    history: null,
    priority: 1,
    weight: 1,
    headers: { 'X-Operator': 'yes' },
    timeout: null,
    limits: { inFlight: null, perSecond: null },
    batch: 1,
    methods: { allow: null, deny: [] },
    errors: [],
    private: false,
    trace: false,
    enabled: true,
  }
  const live = new LiveRoute(route, 2_000)
  t.teardown(() => live.destroy())
  return live
}

t.test('the request carries what the route says, and nothing else', async t => {
  let seen: unknown
  const live = await routeTo(
    t,
    (request, response) => {
      seen = {
        url: request.url,
        method: request.method,
        names: Object.keys(request.headers).sort(),
        auth: request.headers.authorization,
      }
      response.end('{"id":1,"result":"é"}')
    },
    '/v3/key?x=1',
  )
  t.match(await live.exchange('{}', limits), { kind: 'whole', status: 200, body: '{"id":1,"result":"Ã©"}' })
  t.strictSame(seen, {
    url: '/v3/key?x=1',
    method: 'POST',
    names: ['accept', 'authorization', 'connection', 'content-length', 'content-type', 'host', 'x-operator'],
    auth: `Basic ${Buffer.from('user:p@ss').toString('base64')}`,
  })
  t.equal(live.limits.inFlight, 0)
})

t.test('bug: of a query with a question mark in it only the part before that was fetched', async t => {
  const seen: (string | undefined)[] = []
  const live = await routeTo(
    t,
    (request, response) => {
      seen.push(request.url)
      response.end()
    },
    '/v3/?key=a?b&c=d',
  )
  await live.fetch('/health', 5_000)
  await live.exchange('{}', limits)
  t.strictSame(seen, ['/v3/health?key=a?b&c=d', '/v3/?key=a?b&c=d'])
})

t.test('how an exchange can break', async t => {
  const reset = await routeTo(t, request => request.socket.destroy())
  t.strictSame(await reset.exchange('{}', limits), { kind: 'broken', how: 'reset', sent: true })
  const half = await routeTo(t, (request, response) => {
    response.writeHead(200, { 'content-length': 100 }).write('{"id":1', () => request.socket.destroy())
  })
  t.strictSame(await half.exchange('{}', limits), { kind: 'broken', how: 'reset', sent: true })
  const hang = await routeTo(t, () => undefined)
  t.strictSame(await hang.exchange('{}', { ...limits, timeout: 100 }), {
    kind: 'broken',
    how: 'timeout',
    sent: true,
  })
  const drip = await routeTo(t, (_, response) => {
    const timer = setInterval(() => response.write(' '), 20)
    response.on('close', () => clearInterval(timer))
  })
  t.strictSame(await drip.exchange('{}', { ...limits, timeout: 200 }), {
    kind: 'broken',
    how: 'timeout',
    sent: true,
  })
  const large = await routeTo(t, (_, response) => response.end('x'.repeat(2000)))
  t.strictSame(await large.exchange('{}', { ...limits, maxBytes: 1000 }), {
    kind: 'broken',
    how: 'too_large',
    sent: true,
  })
  t.strictSame(await open(t, 'http://127.0.0.1:1').exchange('{}', limits), {
    kind: 'broken',
    how: 'unreachable',
    sent: false,
    cause: 'ECONNREFUSED',
  })
})

t.test('a long reply is handed on open, and the upstream waits for a slow reader', async t => {
  const size = 64 * 1024 * 1024
  let written = 0
  const live = await routeTo(t, (_, response) => {
    const push = (): void => {
      while (written < size && response.write(Buffer.alloc(64 * 1024, 120))) written += 64 * 1024
      if (written >= size) response.end()
    }
    response.on('drain', () => {
      written += 64 * 1024
      push()
    })
    push()
  })
  const exchange = await live.exchange('{}', limits)
  if (exchange.kind !== 'open') throw new Error(exchange.kind)
  t.ok(exchange.head.length > limits.holdBack)
  let read = exchange.head.length
  let first = true
  for await (const chunk of exchange.tail as AsyncIterable<Buffer>) {
    // Nobody has read yet: what the upstream could send is bounded by socket buffers, far below the whole reply.
    if (first) t.ok(written < size / 2, `${written} bytes written before the first read`)
    first = false
    read += chunk.length
  }
  t.ok(read >= size)
})

t.test('a reader who leaves ends the exchange with the upstream', async t => {
  let closed: () => void = () => undefined
  const gone = new Promise<void>(resolve => (closed = resolve))
  const live = await routeTo(t, (_, response) => {
    response.on('close', () => closed())
    const timer = setInterval(() => response.write('x'.repeat(100_000)), 1)
    response.on('close', () => clearInterval(timer))
  })
  const exchange = await live.exchange('{}', limits)
  if (exchange.kind !== 'open') throw new Error(exchange.kind)
  exchange.tail.on('error', () => undefined).destroy()
  await gone
  t.pass('the upstream saw the connection close')
})

t.test('a fault too long to hold back lets go of its connection', async t => {
  let gone: Promise<unknown> | null = null
  const live = await routeTo(t, (_, response) => {
    gone = once(response, 'close')
    // It does not end by itself.
    response.writeHead(500).write(Buffer.alloc(1 << 20))
  })
  const verdict = await live.ask(
    {
      body: '{}',
      id: 1,
      heavy: false,
      caller: 'account',
      departure: () => null,
      isAboutAnother: null,
      flight: null,
      traceparent: null,
      family: 'evm',
      method: 'eth_call',
      params: '[]',
      isRange: false,
      rows: [],
    },
    limits,
    () => 0,
  )
  t.match(verdict, { kind: 'failure', why: 'http_500' })
  await within('the end of the connection', gone!, 5_000)
  t.equal(live.limits.inFlight, 0)
})

/** A departure that counts who listens. */
class CountingDeparture extends Departure {
  count = 0

  override on(listener: () => void): void {
    this.count += 1
    super.on(listener)
  }

  override off(listener: () => void): void {
    this.count -= 1
    super.off(listener)
  }
}

t.test('calls that have waited leave no listener on the departure of their socket', async t => {
  const live = await routeTo(t, (_, response) => response.end('{"jsonrpc":"2.0","id":1,"result":1}'))
  const departure = new CountingDeparture()
  const call = { family: 'evm' as const, method: 'eth_call', params: '[]', isRange: false, rows: [] }
  const asked = {
    ...call,
    body: '{}',
    id: 1,
    heavy: false,
    caller: 'account',
    departure: () => departure,
    isAboutAnother: null,
    flight: null,
    traceparent: null,
  }
  const all = Array.from({ length: 300 }, () => live.ask(asked, limits, () => 0))
  t.ok(departure.count > 100, 'many wait')
  await within('the end of all', Promise.all(all), 5_000)
  t.equal(departure.count, 0)
})

t.test('a call whose client leaves while it waits for a connection is never sent', async t => {
  const waiting: ServerResponse[] = []
  let asked = 0
  const live = await routeTo(t, (request, response) => {
    asked += 1
    request.resume()
    waiting.push(response)
  })
  const client = new Departure()
  const ask = (id: number, departure: Departure | null) =>
    live.ask(
      {
        body: `{"id":${id}}`,
        id,
        heavy: false,
        caller: 'account',
        departure: () => departure,
        isAboutAnother: null,
        flight: null,
        traceparent: null,
        family: 'evm',
        method: 'eth_call',
        params: '[]',
        isRange: false,
        rows: [],
      },
      limits,
      () => 0,
    )
  const all = Array.from({ length: 400 }, (_, id) => ask(id, client))
  const late = ask(400, null)
  t.equal(live.limits.inFlight, 401)
  while (waiting.length < 100) await nextTurn()
  client.leave()
  const answers = setInterval(() => {
    for (const response of waiting.splice(0)) response.end('{"jsonrpc":"2.0","id":1,"result":1}')
  }, 5)
  await within('the call of another client', late, 5_000)
  const verdicts = await within('the end of all', Promise.all(all), 5_000)
  clearInterval(answers)
  const unsent = verdicts.filter(
    verdict => verdict.kind === 'failure' && verdict.why === 'client_left',
  ).length
  t.ok(unsent > 200, `${unsent} were not sent`)
  t.equal(asked, 401 - unsent)
  t.equal(live.limits.inFlight, 0)
})
