import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { openStream } from '../support/event-stream.ts'
import { startGateway } from '../support/gateway.ts'
import { memoryIsVisible, resident } from '../support/memory.ts'
import { metricIs } from '../support/metrics.ts'
import { drained, startHttpNode } from '../support/scripted-http-node.ts'
import { openSocket } from '../support/tcp.ts'

/** How long the streams last: TOLLGATE_STREAM_MINUTES, default 10. The quiet one has to outlast two minutes of silence. */
const minutes = Number(process.env['TOLLGATE_STREAM_MINUTES'] ?? '10')
const STREAMS = 20

const node = await startHttpNode(t)
const gateway = await startGateway(t, {
  methods:
    'notification: { cost: 1 }\nfamilies: { http: { "GET /eth/v1/*": {}, "GET /eth/v1/events": {} } }\n',
  networks: { beacon: { family: 'http', chainId: 'mainnet' } },
  routes: [{ id: 'beacon-a', network: 'beacon', http: node.url }],
})
const access = await createAccess(gateway, 'paid', 'beacon')
t.jobs = 4
t.setTimeout((minutes + 5) * 60_000)

t.test('many streams of many events lose none and hold no memory', async t => {
  const end = Date.now() + minutes * 60_000
  node.on('/eth/v1/events', async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    for (let n = 0; Date.now() < end; n++) {
      response.write(`data: ${n}\n\n`)
      await pause(100)
    }
    response.end('data: last\n\n')
  })
  const streams = await Promise.all(
    Array.from({ length: STREAMS }, () => openStream(t, access, '/eth/v1/events')),
  )
  await pause(10_000)
  const before = memoryIsVisible ? await resident(gateway.pid) : 0
  await Promise.all(streams.map(stream => stream.endsWithin((minutes + 1) * 60_000)))
  for (const { text } of streams) {
    const numbers = [...text.matchAll(/^data: (\d+)$/gm)].map(([, n]) => Number(n))
    t.ok(
      numbers.every((n, at) => n === at),
      'each event came, in order',
    )
    t.ok(numbers.length > minutes * 60 * 5)
    t.ok(text.endsWith('data: last\n\n'))
  }
  if (memoryIsVisible) t.ok((await resident(gateway.pid)) - before < 32 << 20, 'and no memory')
  await metricIs(gateway, 'tollgate_calls_total', { outcome: 'ok', method: 'GET /eth/v1/events' }, STREAMS)
})

t.test('a stream may be silent for longer than connections usually may', async t => {
  node.on('/eth/v1/quiet', async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.flushHeaders()
    await pause(150_000)
    response.end('data: at last\n\n')
  })
  const stream = await openStream(t, access, '/eth/v1/quiet')
  t.equal(await stream.endsWithin(180_000), 'end')
  t.equal(stream.text, 'data: at last\n\n')
})

t.test('a reply that is no stream may not: it is cut after a minute', async t => {
  node.on('/eth/v1/stuck', (_, response) => {
    response.writeHead(200, { 'content-length': '10' })
    response.write('half')
  })
  const begin = Date.now()
  await t.rejects(gateway.send({ method: 'GET', path: `${access.path}/eth/v1/stuck` }))
  t.ok(Date.now() - begin > 50_000)
})

t.test('a reader who stands still for half a minute is let go, and the upstream with him', async () => {
  node.on('/eth/v1/flood', async (_, response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    while (!response.destroyed) {
      if (!response.write(`data: ${'x'.repeat(65_536)}\n\n`)) await drained(response)
    }
  })
  const socket = await openSocket(gateway.port)
  socket.pause()
  const { broken } = node
  socket.write(`GET ${access.path}/eth/v1/flood HTTP/1.1\r\nHost: x\r\n\r\n`)
  await node.broke(broken + 1, 90_000)
})
