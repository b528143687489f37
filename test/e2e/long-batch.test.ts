import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { Agent, request, type IncomingMessage } from 'node:http'
import t from 'tap'
import type { Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { held } from '../support/node-replies.ts'
import { rawItems } from '../support/raw-json.ts'
import { commonHeaders, refusedItem } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import { openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'

/** The reply of a batch may have 64 MiB. It leaves in pieces, so that neither the loop nor memory carries it whole. */
const MiB = 2 ** 20
const chainId = 1001
const ITEMS = 12
const SIZE = 4 * MiB
/** What the node says to `web3_sha3 [i]`: no two alike, and not all of it ASCII. */
const values = Array.from({ length: ITEMS }, (_, i) =>
  Buffer.from(`"${i} é ${randomBytes((SIZE * 3) / 4).toString('base64')}"`),
)
const node = await startNode(t, { chainId })
node.on('web3_sha3', ({ id, params }, response) => {
  const [i] = JSON.parse(params) as [number]
  response.writeHead(200, { 'content-type': 'application/json' })
  response.write(`{"jsonrpc":"2.0","id":${id},"result":`)
  response.write(values[i])
  response.end('}')
})
const batch = `[${values.map((_, i) => message('web3_sha3', [i], `item ${i}`)).join()}]`
const expected = Buffer.concat([
  ...values.flatMap((value, i) => [
    Buffer.from(`${i === 0 ? '[' : ','}{"jsonrpc":"2.0","id":"item ${i}","result":`),
    value,
    Buffer.from('}'),
  ]),
  Buffer.from(']'),
])
const heldBytes = 'tollgate_memory_held_bytes'

async function start(gateway: object = {}): Promise<{ gateway: Gateway; access: Access }> {
  const started = await startGateway(t, {
    networks: { alpha: { chainId } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') }],
    methods: fewMethods,
    plans: { paid: { tiers: ['any', 'paid'], maxBatch: 1000, rate: { perSecond: 1000, burst: 1000 } } },
    gateway: { limits: { memory: '1GiB' }, ...gateway },
  })
  return { gateway: started, access: await createAccess(started, 'paid', 'alpha') }
}
const { gateway, access } = await start({ limits: { memory: '1GiB' }, cors: { origins: ['*'] } })

/** Sends the batch, and gives its reply when the head has come: nothing of the body is read before somebody asks. */
async function begin(
  { gateway: { port }, path }: Access,
  agent: Agent | false = false,
): Promise<IncomingMessage> {
  const headers = { 'content-type': 'application/json' }
  const sending = request({ host: '127.0.0.1', port, method: 'POST', path, headers, agent })
  sending.on('error', () => undefined)
  sending.end(batch)
  const [response] = (await once(sending, 'response')) as [IncomingMessage]
  return response
}

/** Reads `bytes` of a body, or its rest, and leaves the others unread. */
async function read(response: IncomingMessage, bytes = Infinity): Promise<Buffer> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of response.iterator({ destroyOnReturn: false }) as AsyncIterable<Buffer>) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= bytes) break
  }
  return Buffer.concat(chunks)
}

/** Compares without printing 48 MiB. */
function exact(t: Test, found: Buffer, wanted: Buffer = expected): void {
  t.equal(found.length, wanted.length, 'its length')
  t.ok(found.equals(wanted), 'its bytes')
}

/** Resolves when a drain has begun: no connection is taken any more. */
async function noLongerTakes({ port }: Gateway): Promise<void> {
  await until('no connection is taken', () =>
    openSocket(port).then(
      socket => {
        socket.destroy()
        return false
      },
      () => true,
    ),
  )
}

async function charged(calls: number): Promise<void> {
  await until('the calls are charged', async () => (await access.usage()).calls >= calls)
}

t.test('a batch of 48 MiB comes in order, byte for byte, with the head that every reply has', async t => {
  const before = await access.usage()
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  t.teardown(() => {
    agent.destroy()
  })
  const headers = { origin: 'https://a.example' }
  const reply = await gateway.send({ path: access.path, body: batch, agent, headers })
  t.equal(reply.status, 200)
  commonHeaders(t, reply)
  t.match(reply.headers, {
    'content-length': String(expected.length),
    'x-ratelimit-limit': '1000',
    'x-ratelimit-remaining': /^\d+$/,
    'x-ratelimit-reset': /^\d+$/,
    'access-control-allow-origin': '*',
    connection: 'keep-alive',
  })
  t.notOk('transfer-encoding' in reply.headers)
  exact(t, reply.bytes)
  t.equal((await access.post(message('eth_gasPrice'), { agent })).status, 200, 'its connection serves on')
  const { calls, requests } = await access.usage()
  t.same({ calls, requests }, { calls: before.calls + ITEMS + 1, requests: before.requests + ITEMS + 1 })
  await metricIs(gateway, 'tollgate_calls_total', { method: 'web3_sha3', outcome: 'ok' }, ITEMS)
  await metricIs(gateway, heldBytes, {}, 0)
})

t.test('replies keep the order of their requests on one connection', async t => {
  const socket = await openSocket(gateway.port)
  const post = (body: string, last = false) =>
    `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
    `${last ? 'Connection: close\r\n' : ''}Content-Length: ${body.length}\r\n\r\n${body}`
  socket.write(post(batch) + post(batch) + post(message('eth_gasPrice', [], 'last'), true))
  const chunks: Buffer[] = []
  for await (const chunk of socket as AsyncIterable<Buffer>) chunks.push(chunk)
  let rest = Buffer.concat(chunks)
  const bodies = Array.from({ length: 3 }, () => {
    const begin = rest.indexOf('\r\n\r\n') + 4
    const length = Number(/content-length: (\d+)/i.exec(rest.toString('latin1', 0, begin))?.[1])
    const body = rest.subarray(begin, begin + length)
    rest = rest.subarray(begin + length)
    return body
  })
  exact(t, bodies[0]!)
  exact(t, bodies[1]!)
  t.match(JSON.parse(bodies[2]!.toString()), { id: 'last', result: 'ok' })
  t.equal(rest.length, 0)
})

t.test('what was refused alike has the status of its refusal, however long', async t => {
  const ids = Array.from({ length: 400 }, (_, i) => `"${String(i).padEnd(900, '-')}"`)
  const body = `[${ids.map(id => `{"jsonrpc":"2.0","id":${id}}`).join()}]`
  const reply = await gateway.send({ path: access.path, body })
  t.ok(reply.bytes.length > 256 * 1024, `${reply.bytes.length} bytes`)
  t.equal(reply.status, 400)
  const items = rawItems(reply.text)
  t.equal(items.length, 400)
  refusedItem(t, items[399]!, { reason: 'invalid_request', id: ids[399]! })
})

t.test('bytes that have left are held no longer', async t => {
  const response = await begin(access)
  const first = await read(response, expected.length / 2)
  // What stands in the buffers of both sides has left as well.
  await until('half of it is given back', async () => {
    const bytes = await metric(gateway, heldBytes)
    return bytes > 0 && bytes <= ((expected.length / 2) * 5 * 11) / 10
  })
  exact(t, Buffer.concat([first, await read(response)]))
  await metricIs(gateway, heldBytes, {}, 0)
})

t.test('a client that leaves midway leaves nothing held, and each call is metered once', async t => {
  const before = await access.usage()
  const ok = await metric(gateway, 'tollgate_calls_total', { method: 'web3_sha3', outcome: 'ok' })
  const response = await begin(access)
  await read(response, 10 * MiB)
  response.destroy()
  await metricIs(gateway, heldBytes, {}, 0)
  await charged(before.calls + ITEMS)
  const { calls, requests } = await access.usage()
  t.same({ calls, requests }, { calls: before.calls + ITEMS, requests: before.requests + ITEMS })
  await metricIs(gateway, 'tollgate_calls_total', { method: 'web3_sha3', outcome: 'ok' }, ok + ITEMS)
  await metricIs(gateway, 'tollgate_in_flight', {}, 0)
  t.notMatch(gateway.printed, /"level":"error"/)
})

t.test('a client that stops reading is cut after 30 s, and all is given back', async t => {
  const response = await begin(access)
  const first = await read(response, 10 * MiB)
  await metricIs(gateway, heldBytes, {}, 0, 60_000)
  await t.rejects(read(response), { code: 'ECONNRESET' })
  t.ok(first.length < expected.length)
})

t.test('a drain lets a reply that has begun come to its end, and ends its connection', async t => {
  const { gateway, access } = await start({ timeouts: { drain: '20s', drainIdle: '200ms' } })
  const agent = new Agent({ keepAlive: true, maxSockets: 1 })
  const response = await begin(access, agent)
  const first = await read(response, 10 * MiB)
  gateway.signal('SIGTERM')
  await noLongerTakes(gateway)
  const closed = once(response.socket, 'close')
  exact(t, Buffer.concat([first, await read(response)]))
  await closed
  t.strictSame(await gateway.exited, { code: 0, signal: null })
})

t.test(
  'a reply that begins while the gateway drains says that its connection ends, and comes whole',
  async t => {
    const { gateway, access } = await start({ timeouts: { drain: '20s', drainIdle: '200ms' } })
    const gate = new Gate()
    const before = node.count('web3_sha3')
    const answer = node.handler('web3_sha3')!
    node.on('web3_sha3', held(gate, answer))
    const agent = new Agent({ keepAlive: true, maxSockets: 1 })
    const coming = gateway.send({ path: access.path, body: batch, agent })
    await node.arrived('web3_sha3', before + ITEMS)
    gateway.signal('SIGTERM')
    await noLongerTakes(gateway)
    gate.open()
    const reply = await coming
    t.equal(reply.headers.connection, 'close')
    exact(t, reply.bytes)
    t.strictSame(await gateway.exited, { code: 0, signal: null })
    node.on('web3_sha3', answer)
  },
)

t.test('a long batch over a WebSocket is one frame, in order and byte for byte', async t => {
  const client = await openClient(t, access)
  const few = [3, 1, 2]
  const frame = once(client.socket, 'message') as Promise<[Buffer, boolean]>
  client.socket.send(`[${few.map(i => message('web3_sha3', [i], i)).join()}]`)
  const [bytes, isBinary] = await frame
  t.notOk(isBinary)
  const items = few.map(i =>
    Buffer.concat([Buffer.from(`{"jsonrpc":"2.0","id":${i},"result":`), values[i]!, Buffer.from('}')]),
  )
  const [a, b, c] = items as [Buffer, Buffer, Buffer]
  const [open, comma, close] = ['[', ',', ']'].map(text => Buffer.from(text)) as [Buffer, Buffer, Buffer]
  exact(t, bytes, Buffer.concat([open, a, comma, b, comma, c, close]))
  const single = once(client.socket, 'message') as Promise<[Buffer, boolean]>
  client.socket.send(message('web3_sha3', [5], 'alone'))
  const alone = Buffer.from('{"jsonrpc":"2.0","id":"alone","result":')
  exact(t, (await single)[0], Buffer.concat([alone, values[5]!, close.fill('}')]))
  client.socket.terminate()
  await metricIs(gateway, heldBytes, {}, 0)
})
