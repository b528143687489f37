import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import t from 'tap'
import { connectionOf, connectionsOf } from '../../src/http/connection.ts'
import { until } from '../support/until.ts'

/** A server whose calls never end; how many of those that one connection pipelines are started, and how many wait. */
async function serve(limit: number, control: boolean) {
  const server = createServer()
  const asked = connectionsOf(server)
  asked.limit = limit
  const seen = { entered: 0, started: 0 }
  server.on('request', (request, response) => {
    seen.entered += 1
    asked.enter(request, response, () => (seen.started += 1))
  })
  if (control) server.on('connection', socket => connectionOf(socket).control(socket, null))
  server.on('clientError', (error, socket) => {
    if (connectionOf(socket).brake?.takes(error as object) !== true) socket.destroy()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  socket.on('error', () => undefined)
  return { seen, socket }
}

const requests = (times: number) => 'POST / HTTP/1.1\r\nHost: a\r\nContent-Length: 2\r\n\r\n{}'.repeat(times)

t.test('one request more than may run is entered, and no further one', async t => {
  const { seen, socket } = await serve(4, true)
  await new Promise(resolve => socket.write(requests(500), resolve))
  await until('five have entered', () => Promise.resolve(seen.entered >= 5))
  t.strictSame(seen, { entered: 5, started: 4 })
  t.notOk(socket.destroyed)
  socket.destroy()
})

t.test('a connection on which too many wait is destroyed where the parser cannot be stopped', async t => {
  const { seen, socket } = await serve(4, false)
  socket.write(requests(4 + 16))
  await until('all have entered', () => Promise.resolve(seen.entered >= 20))
  t.strictSame(seen, { entered: 20, started: 4 })
  t.notOk(socket.closed)
  socket.write(requests(1))
  await once(socket, 'close')
  t.equal(seen.started, 4)
})

t.test(
  'the last request that may run gets its body where the parser stopped before it for the turn of another',
  async t => {
    const server = createServer()
    const asked = connectionsOf(server)
    asked.limit = 2
    const seen = { begun: 0, bodies: 0 }
    server.on('request', (request, response) => {
      asked.enter(request, response, (_, connection) => {
        connection.pauseParser()
        setImmediate(() => {
          seen.begun += 1
          request.resume().on('end', () => (seen.bodies += 1))
          connection.resumeParser()
        })
      })
    })
    server.on('connection', socket => {
      connectionOf(socket).control(socket, null)
    })
    server.on('clientError', (error, socket) => {
      if (connectionOf(socket).brake?.takes(error as object) !== true) socket.destroy()
    })
    server.listen(0, '127.0.0.1')
    await once(server, 'listening')
    const socket = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
    t.teardown(() => {
      socket.destroy()
      server.closeAllConnections()
      server.close()
    })
    socket.write(requests(10))
    await until('both have their bodies', () => Promise.resolve(seen.bodies >= 2))
    t.strictSame(seen, { begun: 2, bodies: 2 })
  },
)
