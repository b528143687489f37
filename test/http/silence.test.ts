import { once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { connectionsOf } from '../../src/http/connection.ts'
import { boundIdleReplies, mayIdle } from '../../src/http/connections/idle-reply.ts'
import { sayKeepAlive } from '../../src/http/replies/reply.ts'
import { openSocket } from '../support/tcp.ts'

const nothing = () => undefined
const bound = { silence: 200, keepAlive: 60_000 }

const server = createServer()
boundIdleReplies(server, bound)
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo

/** A connection with one request on it, whose reply is open. */
async function asked(): Promise<{ readonly socket: Socket; readonly response: ServerResponse }> {
  const socket = await openSocket(port)
  socket.resume().write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  connectionsOf(server).enter(request, response, nothing)
  return { socket, response }
}

t.test('a connection with a reply under way on which nothing moves is cut, and no other', async t => {
  const lives = { replied: await asked(), stream: await asked(), slow: await asked() }
  lives.replied.response.end('x')
  mayIdle(lives.stream.response)
  const pieces = setInterval(() => lives.slow.response.write('x'), bound.silence / 4)
  t.teardown(() => {
    clearInterval(pieces)
  })
  const unasked = await openSocket(port)
  const silent = await asked()
  const begin = performance.now()
  await once(silent.socket, 'close')
  t.ok(performance.now() - begin >= bound.silence, 'not before its time')
  // The others have now had twice the time.
  const later = await asked()
  await once(later.socket, 'close')
  for (const [name, { socket }] of Object.entries(lives)) t.notOk(socket.destroyed, name)
  t.notOk(unasked.destroyed)
  for (const { socket } of Object.values(lives)) socket.destroy()
  unasked.destroy()
})

t.test('a stream that is over leaves its connection bound', async t => {
  const { socket, response } = await asked()
  mayIdle(response)
  response.end('x')
  await once(response, 'close')
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n')
  const [request, next] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  connectionsOf(server).enter(request, next, nothing)
  await once(socket, 'close')
  t.pass('it was cut')
})

t.test(
  'a connection that waits for its next request is closed after its time, and one that has left HTTP never',
  async t => {
    const server = createServer()
    const keepAlive = 200
    boundIdleReplies(server, { silence: 60_000, keepAlive })
    server.on('request', (request, response) => {
      sayKeepAlive(response, 75_000)
      connectionsOf(server).enter(request, response, nothing)
      response.end('x')
    })
    server.on('upgrade', (request, socket) => {
      connectionsOf(server).forget(request.socket)
      socket.write('HTTP/1.1 101 Switching Protocols\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n')
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    t.teardown(() => server.close())
    const { port } = server.address() as AddressInfo
    const get = 'GET / HTTP/1.1\r\nHost: a\r\n'
    const [used, idle, left] = await Promise.all([openSocket(port), openSocket(port), openSocket(port)])
    left.resume().write(`${get}\r\n`)
    await once(left, 'data')
    left.write(`${get}Connection: upgrade\r\nUpgrade: x\r\n\r\n`)
    idle.write(`${get}\r\n`)
    const [head] = (await once(idle, 'data')) as [Buffer]
    t.match(head.toString(), /\r\nConnection: keep-alive\r\nKeep-Alive: timeout=75\r\n/)
    const begin = performance.now()
    used.resume()
    const requests = setInterval(() => used.write(`${get}\r\n`), keepAlive / 4)
    t.teardown(() => {
      clearInterval(requests)
      used.destroy()
      left.destroy()
    })
    await once(idle.resume(), 'close')
    t.ok(performance.now() - begin >= keepAlive, 'not before its time')
    const next = await openSocket(port)
    next.resume().write(`${get}\r\n`)
    await once(next, 'close')
    t.notOk(used.destroyed)
    t.notOk(left.destroyed)
  },
)
