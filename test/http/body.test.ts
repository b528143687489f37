import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import type { Test } from 'tap'
import { ClientRequest, collectBody, leaveRest } from '../../src/http/body.ts'
import type { NoBody } from '../../src/http/body.ts'

const LIMIT = 100_000

const server = createServer({ IncomingMessage: ClientRequest })
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo

interface Parsed {
  readonly parser: { readonly incoming: unknown }
}

async function open(t: Test): Promise<Socket> {
  const socket = connect(port, '127.0.0.1').setNoDelay().setEncoding('latin1')
  t.teardown(() => socket.destroy())
  await once(socket, 'connect')
  return socket
}

interface Entered {
  readonly request: ClientRequest
  readonly response: ServerResponse
  readonly whole: Promise<Buffer | NoBody>
}

/** The next request, whose body is asked for when its head is here. */
function next(room?: number): Promise<Entered> {
  return new Promise(resolve => {
    server.once('request', (request, response) => {
      resolve({ request: request, response, whole: body(request, room) })
    })
  })
}

/** Its body, as the holder of bytes lets it in. */
function body(request: IncomingMessage, room = LIMIT): Promise<Buffer | NoBody> {
  let left = room
  const take = (bytes: number): 'no_room' | null => {
    left -= bytes
    return left < 0 ? 'no_room' : null
  }
  const holder = { take, giveBack: () => undefined } as unknown as Parameters<typeof collectBody>[2]
  return new Promise(resolve => {
    collectBody(request, LIMIT, holder, resolve)
  })
}

const head = (...lines: string[]): string => `POST / HTTP/1.1\r\nHost: a\r\n${lines.join('\r\n')}\r\n\r\n`

for (const [name, sent, expected] of [
  ['one piece', [`${head('Content-Length: 4')}abcd`], 'abcd'],
  ['no piece', [head('Content-Length: 0')], ''],
  ['no length', [head('X: y')], ''],
  ['several pieces', [`${head('Content-Length: 6')}ab`, 'cd', 'ef'], 'abcdef'],
  ['chunks', [`${head('Transfer-Encoding: chunked')}2\r\nab\r\n`, '1\r\nc\r\n0\r\nA: b\r\n\r\n'], 'abc'],
] as const) {
  t.test(`a body of ${name} is whole, and the parser forgets its request`, async t => {
    const socket = await open(t)
    const coming = next()
    const [first, ...others] = sent
    socket.write(first)
    const { request, response, whole } = await coming
    for (const piece of others) {
      await new Promise(resolve => setImmediate(resolve))
      socket.write(piece)
    }
    t.equal(String(await whole), expected)
    t.equal((request.socket as unknown as Parsed).parser.incoming, null)
    response.end('done')
    t.match(await once(socket, 'data'), /done/)
    t.equal(request.listenerCount('end'), 0)
  })
}

t.test('a body that has begun to come is read from the stream', async t => {
  const socket = await open(t)
  const coming = once(server, 'request')
  socket.write(`${head('Content-Length: 6')}abc`)
  const [request, response] = (await coming) as [ClientRequest, ServerResponse]
  while (request.readableLength < 3) await new Promise(resolve => setImmediate(resolve))
  const whole = body(request)
  socket.write('def')
  t.equal(String(await whole), 'abcdef')
  response.end()
})

t.test('a client that leaves amid its body is gone', async t => {
  const socket = await open(t)
  const coming = next()
  socket.write(`${head('Content-Length: 6')}abc`)
  const { whole } = await coming
  socket.destroy()
  t.equal(await whole, 'gone')
})

t.test('the rest of a body without room does not hold its connection up', async t => {
  const socket = await open(t)
  const coming = next(2)
  const length = 60_000
  socket.write(`${head(`Content-Length: ${length}`)}abc`)
  const { request, response, whole } = await coming
  t.equal(await whole, 'no_room')
  response.writeHead(429, ['Content-Length', '0'])
  response.end()
  leaveRest(request, response)
  t.match(await once(socket, 'data'), /429/)
  const another = next()
  const half = (length - 3) / 2
  socket.write('x'.repeat(Math.ceil(half)))
  while (request.socket.bytesRead < half) await new Promise(resolve => setImmediate(resolve))
  socket.write(`${'x'.repeat(Math.floor(half))}${head('Content-Length: 2')}ok`)
  const second = await another
  t.equal(String(await second.whole), 'ok')
  second.response.end()
})

t.test('a long body without room is read a little, then cut', async t => {
  const socket = await open(t)
  const coming = next(2)
  socket.write(`${head('Transfer-Encoding: chunked')}3\r\nabc\r\n`)
  const { request, response, whole } = await coming
  t.equal(await whole, 'no_room')
  response.writeHead(429, ['Content-Length', '0', 'Connection', 'close'])
  response.end()
  leaveRest(request, response)
  t.match(await once(socket, 'data'), /429/)
  const mebibyte = 1024 * 1024
  const server = request.socket
  socket.on('error', () => undefined)
  const closed = once(server, 'close')
  const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`
  for (let sent = 0; sent < 3 * mebibyte && !socket.destroyed; sent += chunk.length)
    if (!socket.write(chunk)) await Promise.race([once(socket, 'drain'), closed])
  await closed
  t.ok(server.bytesRead > mebibyte && server.bytesRead < 2 * mebibyte, `${server.bytesRead} bytes read`)
})

t.test('bug: a client that sends on sees the reply, however late it reads', async t => {
  const socket = await open(t)
  const coming = next(2)
  socket.pause()
  socket.write(`${head('Transfer-Encoding: chunked')}3\r\nabc\r\n`)
  const { request, response, whole } = await coming
  t.equal(await whole, 'no_room')
  const server = request.socket
  const stopped = once(server, 'pause')
  response.writeHead(429, ['Content-Length', '0', 'Connection', 'close'])
  response.end()
  leaveRest(request, response)
  const chunk = `${(64 * 1024).toString(16)}\r\n${'x'.repeat(64 * 1024)}\r\n`
  // More than the gateway reads and the system holds, and it is all sent before the reply is looked at.
  for (let sent = 0; sent < 16 * 1024 * 1024; sent += chunk.length) socket.write(chunk)
  const closed = once(server, 'close')
  socket.on('error', () => undefined)
  await Promise.race([stopped, once(socket, 'close')])
  if (!t.notOk(socket.destroyed)) return
  const replied = once(socket, 'data')
  socket.resume()
  t.match(await replied, /429/)
  await closed
})
