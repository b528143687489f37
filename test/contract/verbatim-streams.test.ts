import { readFile, writeFile } from 'node:fs/promises'
import type { ServerResponse } from 'node:http'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { openStream } from '../support/event-stream.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { memoryIsVisible, resident } from '../support/memory.ts'
import { metricIs } from '../support/metrics.ts'
import { drained, startHttpNode, type ScriptedHttpNode } from '../support/scripted-http-node.ts'
import { exchange, openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

const events = '/eth/v1/events'
const cost = 5
const methods = `notification: { cost: 1 }
families:
  http:
    "GET /eth/v1/events": { cost: ${cost} }
    "GET /eth/v1/paid": { tier: paid }
    "GET /eth/v1/node/*": {}
`
/** The streams that a node has open, oldest first; each has said hello. */
function streamsOf(node: ScriptedHttpNode): ServerResponse[] {
  const open: ServerResponse[] = []
  const handler = (_: unknown, response: ServerResponse) => {
    response.writeHead(200, { 'content-type': 'text/event-stream; charset=utf-8' })
    response.write(': hello\n\n')
    open.push(response)
  }
  node.on(events, handler).on('/eth/v1/paid', handler)
  return open
}

const [node, other] = [await startHttpNode(t), await startHttpNode(t)]
const streams = streamsOf(node)
const otherStreams = streamsOf(other)
// Far shorter than the streams last: it bounds the wait for their heads only.
const timeout = '400ms'
const routes = [
  { id: 'beacon-a', network: 'beacon', http: node.url, timeout },
  { id: 'other-a', network: 'other', http: other.url, timeout },
]
const gateway = await startGateway(t, {
  methods,
  networks: {
    beacon: { family: 'http', chainId: 'mainnet' },
    other: { family: 'http', chainId: 'mainnet' },
  },
  routes,
  plans: { two: { tiers: ['any'], ws: { connections: 2, subscriptions: 1 } } },
})
const access = await createAccess(gateway, 'paid', 'beacon')
const onOther = await access.another('other')

t.test(
  'each event comes at once, in order, long after the call would have timed out; paid for once',
  async t => {
    const before = await access.usage()
    const stream = await openStream(t, access, `${events}?topics=head`)
    t.equal(stream.status, 200)
    t.equal(stream.headers['content-type'], 'text/event-stream; charset=utf-8')
    t.equal(stream.headers['cache-control'], 'no-store')
    await stream.has('hello')
    const upstream = streams.at(-1)!
    const begin = performance.now()
    let sent = ': hello\n\n'
    for (let n = 1; n <= 300; n++) {
      const event = `event: head\ndata: {"slot":"${n}"}\n\n`
      sent += event
      upstream.write(event)
      // The next one is not sent before this one has come: nothing on the way may wait for more.
      await stream.has(event)
      if (n % 100 === 0) await pause(500)
    }
    t.ok(performance.now() - begin > 1_400, 'it lasted three times the timeout and more')
    t.equal(stream.text, sent)
    const open = await access.usage()
    t.strictSame(
      [open.requests - before.requests, open.calls - before.calls],
      [cost, 1],
      'charged while open',
    )
    upstream.end()
    t.equal(await stream.ended, 'end', 'its own end is a clean end')
    t.strictSame(await access.usage(), open, 'and not again')
    const labels = { network: 'beacon', method: 'GET /eth/v1/events' }
    await metricIs(gateway, 'tollgate_calls_total', { ...labels, outcome: 'ok' }, 1)
  },
)

t.test('a cut upstream is no clean end, and stays paid for', async t => {
  const before = await access.usage()
  const stream = await openStream(t, access, events)
  await stream.has('hello')
  streams.at(-1)?.socket?.resetAndDestroy()
  t.equal(await stream.ended, 'cut')
  t.equal((await access.usage()).requests - before.requests, cost)
  await metricIs(gateway, 'tollgate_calls_total', { network: 'beacon', outcome: 'failed' }, 1)
})

t.test('when the client leaves the upstream is let go', async t => {
  const stream = await openStream(t, access, events)
  await stream.has('hello')
  const broken = node.broken
  stream.leave()
  await node.broke(broken + 1)
  await metricIs(gateway, 'tollgate_route_in_flight', { route: 'beacon-a' }, 0)
})

t.test('before the head has come, too', async t => {
  const before = await access.usage()
  node.on('/eth/v1/node/slow', () => undefined)
  const socket = await openSocket(gateway.port)
  socket.write(`GET ${access.path}/eth/v1/node/slow HTTP/1.1\r\nHost: x\r\n\r\n`)
  await node.arrived('/eth/v1/node/slow')
  const broken = node.broken
  socket.destroy()
  await node.broke(broken + 1)
  await metricIs(gateway, 'tollgate_attempts_total', { route: 'beacon-a', result: 'aborted' }, 1)
  // A node was at work on it, so it is paid for.
  await metricIs(gateway, 'tollgate_calls_total', { method: 'GET /eth/v1/node/*', outcome: 'failed' }, 1)
  t.equal((await access.usage()).requests - before.requests, 1)
})

t.test('a reader who does not read stops the upstream, not the memory of the gateway', async t => {
  let written = 0
  const piece = `data: ${'x'.repeat(65_536 - 8)}\n\n`
  const total = 3_000 // 190 MiB
  node.on('/eth/v1/node/flood', async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    for (let n = 0; n < total && !response.destroyed; n++) {
      written += piece.length
      if (!response.write(piece)) await drained(response)
    }
    response.end()
  })
  const memory = async (): Promise<number> => (memoryIsVisible ? resident(gateway.pid) : 0)
  const before = await memory()
  const stream = await openStream(t, access, '/eth/v1/node/flood')
  stream.pause()
  let last = -1
  await until('the flood stands still', async () => {
    await pause(200)
    const isStill = last === written
    last = written
    return isStill
  })
  t.ok(written < 40 << 20, `${written >> 20} MiB were taken`)
  t.ok((await memory()) - before < 48 << 20, 'the gateway holds none of it')
  let read = 0
  const { length } = piece
  stream.text = ''
  stream.resume()
  t.equal(await stream.ended, 'end')
  read = stream.text.length
  t.equal(written, total * length)
  t.ok(read > total * length - (1 << 20), 'all of it comes in the end')
})

t.test('where only the end of the connection tells the end, the client is told no more', async t => {
  node.on('/eth/v1/node/old', (_, response) => {
    response.socket?.end('HTTP/1.1 200 OK\r\ncontent-type: text/plain\r\nconnection: close\r\n\r\nhello')
  })
  const reply = await exchange(gateway.port, `GET ${access.path}/eth/v1/node/old HTTP/1.1\r\nHost: x\r\n\r\n`)
  t.match(reply, /^HTTP\/1\.1 200 OK\r\n/)
  t.match(reply, /connection: close/i)
  t.notMatch(reply, /transfer-encoding|content-length/i)
  t.ok(reply.endsWith('\r\n\r\nhello'))
})

t.test('streams take the connections of the plan', async t => {
  const two = await createAccess(gateway, 'two', 'beacon')
  const first = await openStream(t, two, events)
  await openStream(t, two, events)
  const charged = await two.usage()
  const third = await openStream(t, two, events)
  t.equal(third.status, 429)
  await third.has('too_many_connections')
  t.strictSame(await two.usage(), charged, 'a refused one is not paid for')
  first.leave()
  await until('its place is free', async () => {
    const again = await openStream(t, two, events)
    return again.status === 200
  })
})

t.test('a key that is gone, or a plan that is too small, ends its streams and no others', async t => {
  const stays = await openStream(t, access, events)
  const deleted = await access.another('beacon')
  const inactive = await access.another('beacon')
  const downgraded = await createAccess(gateway, 'paid', 'beacon')
  const [one, two, three] = [
    await openStream(t, deleted, events),
    await openStream(t, inactive, events),
    await openStream(t, downgraded, '/eth/v1/paid'),
  ]
  await access.managed('service_deleteEndpoint', [{ endpointId: deleted.endpointId }])
  await access.managed('service_updateEndpoint', [{ endpointId: inactive.endpointId, status: 'inactive' }])
  await withAccounts(gateway, async store => {
    await store.accounts.change(downgraded.accountId, { plan: 'free' })
  })
  t.strictSame(await Promise.all([one.ended, two.ended, three.ended]), ['end', 'end', 'end'])
  streams.find(({ destroyed }) => !destroyed)?.write('data: on\n\n')
  await stays.has('data: on')
  stays.leave()
})

t.test('a stream of a deleted key ends cleanly, and is not cut as a call under way is', async t => {
  // The next one begins right after a look at streams, so that a look at calls comes first.
  for (let round = 0; round < 3; round++) {
    const deleted = await access.another('beacon')
    const stream = await openStream(t, deleted, events)
    await access.managed('service_deleteEndpoint', [{ endpointId: deleted.endpointId }])
    t.equal(await stream.ended, 'end')
  }
})

t.test('an edit ends the streams of the routes and rules that it concerns', async t => {
  const [here, there] = [await openStream(t, access, events), await openStream(t, onOther, events)]
  await Promise.all([here.has('hello'), there.has('hello')])
  const edit = async (file: string, from: string, to: string) => {
    const path = join(gateway.dir, file)
    const text = await readFile(path, 'utf8')
    if (!text.includes(from)) throw new Error(`${file} has no ${from}`)
    await writeFile(path, text.replace(from, to))
  }
  await edit('plans.yaml', 'maxBatch: 20', 'maxBatch: 21')
  await until('the edit is served', () => Promise.resolve(gateway.printed.includes('maxBatch 20 → 21')))
  await edit('routes.yaml', '/v3/operator-secret?key', '/v4/operator-secret?key')
  t.equal(await here.ended, 'end', 'another route under the same name')
  otherStreams.at(-1)?.write('data: on\n\n')
  await there.has('data: on')
  await edit('methods.yaml', '"GET /eth/v1/events": {', '"GET /eth/v1/events": { enabled: false,')
  t.equal(await there.ended, 'end', 'a rule that is no more')
})

t.test('a drain ends streams and finishes calls', async t => {
  const stream = await openStream(t, onOther, '/eth/v1/paid')
  await stream.has('hello')
  const gate = new Gate()
  other.on('/eth/v1/node/held', async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/plain' })
    response.write('half ')
    await gate.pass()
    response.end('whole')
  })
  const call = gateway.send({ method: 'GET', path: `${onOther.path}/eth/v1/node/held` })
  await other.arrived('/eth/v1/node/held')
  gateway.signal('SIGTERM')
  t.equal(await stream.ended, 'end')
  gate.open()
  t.equal((await call).text, 'half whole')
  t.strictSame(await gateway.exited, { code: 0, signal: null })
  for (const each of [node, other])
    await until('no connection is left', async () => (await each.connections()) === 0)
})

t.test('what has no head when the drain is over is refused, and not paid for', async t => {
  const brief = await startGateway(t, {
    methods,
    networks: { beacon: { family: 'http', chainId: 'mainnet' } },
    routes: [{ id: 'beacon-a', network: 'beacon', http: node.url }],
    gateway: { timeouts: { drain: '300ms' } },
  })
  const through = await createAccess(brief, 'paid', 'beacon')
  const before = node.asked('/eth/v1/node/slow').length
  const call = brief.send({ method: 'GET', path: `${through.path}/eth/v1/node/slow` })
  await node.arrived('/eth/v1/node/slow', before + 1)
  brief.signal('SIGTERM')
  const { status, text } = await call
  t.match([status, JSON.parse(text)], [503, { code: 503, reason: 'no_route' }])
  t.strictSame(await brief.exited, { code: 0, signal: null })
  await brief.start()
  t.strictSame(await through.usage(), { requests: 0, calls: 0 })
})
