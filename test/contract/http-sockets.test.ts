import t from 'tap'
import { once } from 'node:events'
import { message } from '../support/access.ts'
import { Gate } from '../support/gate.ts'
import { echo, held, hang, result } from '../support/node-replies.ts'
import { observe } from '../support/observe.ts'
import { exchange, openSocket, statusOf } from '../support/tcp.ts'
import { startBench } from './message-bench.ts'

const { gateway, nodes, access: create } = await startBench(t, { limits: { body: '64KiB' } })
const access = await create('evm')
const node = nodes.evm

const post = (body: string, headers = '') =>
  `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n` +
  `Content-Length: ${Buffer.byteLength(body)}\r\n${headers}\r\n${body}`

t.test('one socket that pipelines 200 calls has 16 in flight, and gets its answers in order', async t => {
  const gate = new Gate()
  const before = node.count('eth_getBlockReceipts')
  const arrived = () => node.count('eth_getBlockReceipts') - before
  node.on('eth_getBlockReceipts', held(gate, echo)).on('web3_sha3', echo)
  const bodies = Array.from({ length: 200 }, (_, i) => message('eth_getBlockReceipts', [`0x${i}`], i))
  const requests = bodies.map((body, i) => post(body, i === 199 ? 'Connection: close\r\n' : ''))
  const seen = await observe(access, node, async () => {
    const exchanging = exchange(gateway.port, requests.join(''))
    await node.arrived('eth_getBlockReceipts', before + 16)
    // Whatever the gateway had sent at the same time would have arrived before these are answered.
    for (let i = 0; i < 5; i++) t.equal((await access.post(message('web3_sha3', ['0x00']))).status, 200)
    t.equal(arrived(), 16)
    gate.open()
    return exchanging
  })
  const answers = [...seen.value.matchAll(/"id":(\d+),"result":\["0x(\d+)"\]/g)]
  t.strictSame(
    answers.map(([, id, result]) => [id, result]),
    bodies.map((_, i) => [String(i), String(i)]),
  )
  t.equal([...seen.value.matchAll(/HTTP\/1\.1 200 /g)].length, 200)
  t.equal(arrived(), 200)
  t.equal(seen.requests, 600 + 5)
  t.equal(seen.calls, 205)
})

t.test('a POST that offers an upgrade to HTTP/2 gets its normal answer', async t => {
  const body = message('web3_sha3', ['0x00'], 'h2')
  const offer =
    'Connection: Upgrade, HTTP2-Settings, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQ\r\n'
  const reply = await exchange(gateway.port, post(body, offer))
  t.equal(statusOf(reply), 200)
  t.match(reply, '{"jsonrpc":"2.0","id":"h2","result":["0x00"]}')
})

t.test('a refused body is not read on: the reply says so and the connection ends', async t => {
  const seen = await observe(access, node, async () => {
    const socket = await openSocket(gateway.port)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    socket.write(
      `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n`,
    )
    await once(socket, 'close')
    return text
  })
  t.equal(statusOf(seen.value), 413)
  t.match(seen.value, /connection: close/i)
  t.match(seen.value, '"reason":"body_too_large"')
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
})

t.test(
  'a body that grows over the limit in chunks is refused, and what follows is no second request',
  async t => {
    const chunk = 'a'.repeat(0x8000)
    const smuggled = post(message('web3_sha3', ['smuggled'], 'smuggled'))
    const seen = await observe(access, node, () =>
      exchange(
        gateway.port,
        `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n` +
          // It does not end: one that has come whole before it is refused leaves its connection to the next request.
          `8000\r\n${chunk}\r\n8000\r\n${chunk}\r\n8000\r\n${chunk}\r\n8000\r\n${smuggled}`,
      ),
    )
    t.equal(statusOf(seen.value), 413)
    t.equal([...seen.value.matchAll(/HTTP\/1\.1 /g)].length, 1)
    t.same(seen.sent, [])
    t.equal(seen.requests, 0)
  },
)

t.test('broken chunking is refused', async t => {
  const seen = await observe(access, node, () =>
    exchange(
      gateway.port,
      `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n`,
    ),
  )
  t.equal(statusOf(seen.value), 400)
  t.same(seen.sent, [])
  t.equal(seen.requests, 0)
})

t.test('a length and chunks at once are refused', async t => {
  const body = message('web3_sha3', ['0x00'])
  const reply = await exchange(
    gateway.port,
    post(body, 'Transfer-Encoding: chunked\r\nConnection: close\r\n').replace(
      /\r\n\r\n.*/s,
      '\r\n\r\n0\r\n\r\n',
    ),
  )
  t.equal(statusOf(reply), 400)
})

t.test('a body in many small writes is one call', async t => {
  const body = message('web3_sha3', ['é☃😀'], 'slow')
  const bytes = Buffer.from(post(body, 'Connection: close\r\n'))
  const socket = await openSocket(gateway.port)
  socket.setNoDelay(true)
  const chunks: Buffer[] = []
  socket.on('data', (chunk: Buffer) => chunks.push(chunk))
  for (const byte of bytes) await new Promise(resolve => socket.write(Buffer.of(byte), resolve))
  await once(socket, 'close')
  t.match(Buffer.concat(chunks).toString(), '{"jsonrpc":"2.0","id":"slow","result":["é☃😀"]}')
})

t.test('clients that go away at any moment harm nobody', async t => {
  const body = message('web3_sha3', ['0x00'])
  node.on('eth_gasPrice', hang)
  const pieces = [
    '',
    'POST',
    post(body).slice(0, 80),
    post(body).slice(0, -5),
    post(message('eth_gasPrice')),
    `GET ${access.path} HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n`,
  ]
  for (const piece of pieces) {
    const socket = await openSocket(gateway.port)
    if (piece !== '') await new Promise(resolve => socket.write(piece, resolve))
    if (piece.includes('eth_gasPrice')) await node.arrived('eth_gasPrice')
    socket.resetAndDestroy()
    t.equal((await access.post(body)).status, 200)
  }
  node.on('eth_gasPrice', result('"0x1"'))
})

t.test('a call that its client abandoned is charged all the same', async t => {
  const gate = new Gate()
  node.on('eth_getBlockReceipts', held(gate, result('[]')))
  const before = node.count('eth_getBlockReceipts')
  const seen = await observe(access, node, async () => {
    const socket = await openSocket(gateway.port)
    socket.write(post(message('eth_getBlockReceipts', ['latest'])))
    await node.arrived('eth_getBlockReceipts', before + 1)
    socket.resetAndDestroy()
    // An answer on another connection shows that the gateway has gone on after the reset.
    t.equal((await access.post(message('web3_sha3', ['0x00']))).status, 200)
    gate.open()
    t.equal((await access.post(message('web3_sha3', ['0x00']))).status, 200)
  })
  t.equal(seen.requests, 5)
  t.equal(seen.calls, 3)
})
