import t, { type Test } from 'tap'
import { once } from 'node:events'
import { connect } from 'node:net'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { echo, held } from '../support/node-replies.ts'
import { repliesIn } from '../support/raw-replies.ts'
import { refusedItem, type Reason } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { exchange, openSocket } from '../support/tcp.ts'
import { within } from '../support/until.ts'

/** The numbers of one connection, each with the answer that a client gets on the other side of it. */
const node = await startNode(t, { chainId: 1001 })
node.on('web3_sha3', echo)
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway: { timeouts: { headers: '1s', request: '2s', keepAlive: '4s' } },
})
const access = await createAccess(gateway, 'paid', 'alpha')
const body = message('web3_sha3', ['0x00'])
const head = `POST ${access.path} HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
const post = (text = body, headers = '') => `${head}${headers}Content-Length: ${text.length}\r\n\r\n${text}`
const bad = `POST /alpha/v1/rpc/nonsense HTTP/1.1\r\nHost: a\r\nContent-Type: application/json\r\n`
const closing = 'Connection: close\r\n'

const only = (text: string) => {
  const replies = repliesIn(text)
  if (replies.length !== 1) throw new Error(`${replies.length} replies: ${text}`)
  return replies[0]!
}

/** One reply, a refusal, and the end of the connection. */
const endsWith = (t: Test, text: string, status: number, reason: Reason = 'invalid_request') => {
  const reply = only(text)
  t.equal(reply.status, status)
  t.equal(reply.headers.connection, 'close')
  refusedItem(t, reply.text, { reason })
}

t.test('100 header lines are read, 101 are refused', async t => {
  // Four lines are there without them.
  const lines = (count: number) => Array.from({ length: count - 4 }, (_, i) => `X-${i}: a\r\n`).join('')
  t.equal(only(await exchange(gateway.port, post(body, lines(100) + closing))).status, 200)
  endsWith(t, await exchange(gateway.port, post(body, lines(101) + closing)), 431)
  // The line that Node would have dropped is one that matters.
  endsWith(t, await exchange(gateway.port, post(body, `${lines(101)}${closing}Host: b\r\n`)), 431)
  endsWith(t, await exchange(gateway.port, post(body, `${lines(1500)}${closing}`)), 431)
})

t.test('16 KiB of head are read, more are refused', async t => {
  t.equal(
    only(await exchange(gateway.port, post(body, `X: ${'a'.repeat(15_000)}\r\n${closing}`))).status,
    200,
  )
  endsWith(t, await exchange(gateway.port, post(body, `X: ${'a'.repeat(17_000)}\r\n${closing}`)), 431)
  endsWith(t, await exchange(gateway.port, `POST /${'a'.repeat(17_000)} HTTP/1.1\r\nHost: a\r\n\r\n`), 431)
})

t.test('a body of 5 MiB is read, a byte more is refused before it is sent', async t => {
  const padded = (length: number) => body + ' '.repeat(length - body.length)
  t.equal((await access.post(padded(5 * 2 ** 20))).status, 200)
  endsWith(
    t,
    await exchange(gateway.port, `${head}Content-Length: ${5 * 2 ** 20 + 1}\r\n\r\n`),
    413,
    'body_too_large',
  )
})

t.test('what does not arrive in time is told so', { jobs: 6 }, t => {
  const slow: Record<string, string> = {
    'no byte': '',
    'half a head': head,
    'half a body': `${head}Content-Length: 100\r\n\r\n{`,
    'half a chunk': `${head}Transfer-Encoding: chunked\r\n\r\n10\r\n{`,
    'half a request behind a whole one': post() + head,
  }
  for (const [name, bytes] of Object.entries(slow))
    void t.test(name, async t => {
      const replies = repliesIn(await exchange(gateway.port, bytes))
      t.equal(replies.length, name.includes('behind') ? 2 : 1)
      if (replies.length === 2) t.equal(replies[0]?.status, 200)
      t.equal(replies.at(-1)?.status, 408)
      t.equal(replies.at(-1)?.headers.connection, 'close')
      refusedItem(t, replies.at(-1)?.text ?? '', { reason: 'invalid_request' })
    })
  void t.test('a byte now and then does not help', async t => {
    const socket = await openSocket(gateway.port)
    let text = ''
    socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
    const bytes = `${head}X: ${'a'.repeat(1_000)}`
    let sent = 0
    const dripping = setInterval(() => socket.write(bytes.slice(sent, ++sent)), 50)
    await once(socket, 'close')
    clearInterval(dripping)
    endsWith(t, text, 408)
  })
  void t.test('an idle connection is closed without a word', async t => {
    t.equal(only(await exchange(gateway.port, post())).status, 200)
  })
  t.end()
})

t.test('a body that is waited for is asked for once its head has passed', async t => {
  const expecting = (start: string, length: number) =>
    `${start}${closing}Expect: 100-continue\r\nContent-Length: ${length}\r\n\r\n`
  const socket = await openSocket(gateway.port)
  let text = ''
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString()
    if (text === 'HTTP/1.1 100 Continue\r\n\r\n') socket.write(body)
  })
  socket.write(expecting(head, body.length))
  await once(socket, 'close')
  t.match(text, /^HTTP\/1\.1 100 Continue\r\n\r\nHTTP\/1\.1 200 OK\r\n/)
  const refusals: [string, number, Reason][] = [
    [expecting(bad, 10), 401, 'invalid_key'],
    [expecting(head, 100_000_000), 413, 'body_too_large'],
    [expecting(head.replace('application/json', 'text/plain'), 10), 415, 'unsupported_media_type'],
    [expecting(head.replace('/alpha', '/nowhere'), 10), 404, 'not_found'],
  ]
  for (const [bytes, status, reason] of refusals)
    endsWith(t, await exchange(gateway.port, bytes.replace(closing, '')), status, reason)
  // A body that comes unasked is no request, whatever it looks like.
  const smuggled = post(message('web3_sha3', ['smuggled']))
  endsWith(
    t,
    await exchange(gateway.port, expecting(bad, smuggled.length).replace(closing, '') + smuggled),
    401,
    'invalid_key',
  )
  t.equal(node.calls.filter(({ text }) => text.includes('smuggled')).length, 0)
  t.equal(
    only(await exchange(gateway.port, post(body, `${closing}Expect: 100-continue\r\n`).replace('1.1', '1.0')))
      .status,
    200,
  )
})

t.test('a client that is still sending gets to read why it was refused', async t => {
  const length = 900_000
  for (let i = 0; i < 20; i++) {
    const text = await exchange(
      gateway.port,
      `${bad}X-Forwarded-For: 1.1.1.${i}\r\nContent-Length: ${length}\r\n\r\n${'a'.repeat(length)}`,
    )
    t.ok([401, 429].includes(only(text).status))
    t.equal(only(text).headers.connection, 'close')
  }
})

t.test('a client that goes on sending is cut', async t => {
  // A client of that kind does not mind that the other side has closed its half.
  const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
  await once(socket, 'connect')
  socket.on('error', () => undefined)
  // Whether it gets to read the reply before that is up to the system.
  socket.resume()
  socket.write(`${bad}Content-Length: 1000000000\r\n\r\n`)
  const closed = once(socket, 'close').catch(() => undefined)
  const piece = Buffer.alloc(65_536, 'a')
  while (!socket.closed) {
    if (!socket.write(piece)) await Promise.race([once(socket, 'drain').catch(() => undefined), closed])
    await new Promise(setImmediate)
  }
  // A megabyte is read, and the system holds some more on both sides.
  t.comment(`${socket.bytesWritten} bytes`)
  t.ok(socket.bytesWritten < 16 * 2 ** 20, `${socket.bytesWritten} bytes`)
})

t.test('a client that sends a byte now and then is cut as well', async () => {
  const socket = connect({ port: gateway.port, host: '127.0.0.1', allowHalfOpen: true })
  socket.on('error', () => undefined).resume()
  socket.write(`${bad}Content-Length: 1000000000\r\n\r\n`)
  const dripping = setInterval(() => socket.write('a'), 100)
  await within('the end of a connection', new Promise(resolve => socket.once('close', resolve)))
  clearInterval(dripping)
})

t.test('10 000 pipelined requests are 16 calls at a time, and all are answered in order', async t => {
  const gate = new Gate()
  node.on('eth_getStorageAt', held(gate, echo))
  const times = 10_000
  const methodOf = (i: number) => (i < 100 || i % 50 === 0 ? 'eth_getStorageAt' : 'eth_chainId')
  const paramsOf = (i: number) => (methodOf(i) === 'eth_chainId' ? [] : ['0x0', `0x${i}`])
  const requests = Array.from({ length: times }, (_, i) =>
    post(message(methodOf(i), paramsOf(i), i), i === times - 1 ? closing : ''),
  )
  const peakBefore = node.peak
  const exchanging = exchange(gateway.port, requests.join(''))
  await node.arrived('eth_getStorageAt', 16)
  for (let i = 0; i < 5; i++) t.equal((await access.post(body)).status, 200)
  t.equal(node.count('eth_getStorageAt'), 16)
  gate.open()
  const replies = repliesIn(await exchanging)
  t.equal(replies.length, times)
  const isAnswer = (text: string, i: number) =>
    text.includes(`"id":${i},"result":${methodOf(i) === 'eth_chainId' ? '"0x3e9"' : '["0x0"'}`)
  t.ok(replies.every(({ status, text }, i) => status === 200 && isAnswer(text, i)))
  t.ok(node.peak <= Math.max(peakBefore, 17), `${node.peak} at a time`)
})
