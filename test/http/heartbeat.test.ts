import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t, { type Test } from 'tap'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { ByteBudget } from '../../src/limits/byte-budget.ts'
import { Heartbeat } from '../../src/http/websocket/heartbeat.ts'
import { SendQueue } from '../../src/http/websocket/send-queue.ts'
import { until, within } from '../support/until.ts'

const HANDSHAKE = `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`
/** More than systems keep for a connection on both sides. */
const QUEUED = 64 * 2 ** 20

/** A client that reads nothing until it is told to, and never answers a ping; the heartbeat of its socket, and a clock that the test moves. */
async function scene(t: Test) {
  const server = new WebSocketServer({ host: '127.0.0.1', port: 0 })
  t.teardown(() => server.close())
  await once(server, 'listening')
  const client = connect((server.address() as AddressInfo).port, '127.0.0.1').on('error', () => undefined)
  client.write(HANDSHAKE)
  const [webSocket, { socket }] = (await once(server, 'connection')) as [WebSocket, { socket: Socket }]
  await once(client, 'data')
  client.pause()
  t.teardown(() => {
    webSocket.terminate()
    client.destroy()
  })
  const queue = new SendQueue(socket, new ByteBudget(() => 4 * QUEUED))
  const heartbeat = new Heartbeat(webSocket, queue)
  const { _handle: handle } = socket as unknown as { readonly _handle: { readonly writeQueueSize: number } }
  const waiting = (): number => handle.writeQueueSize
  let now = performance.now()
  return {
    client,
    webSocket,
    queue,
    /** A second for each tick, as many as lie between two pings. */
    pass: (): void => {
      for (let i = 0; i < 31; i += 1) heartbeat.tick((now += 1_000))
    },
    isOpen: (): boolean => webSocket.readyState === webSocket.OPEN,
    /** Reads until the system has taken some of what waits at the server. */
    read: async (): Promise<void> => {
      const before = waiting()
      await until('the server has sent more', async () => {
        await within('a MiB that it sends', readMiB(client))
        return waiting() < before
      })
    },
  }
}

/** Reads about as much, and no further. */
async function readMiB(client: Socket): Promise<void> {
  for (let left = 2 ** 20; left > 0;) {
    client.resume()
    const [bytes] = (await once(client, 'data')) as [Buffer]
    client.pause()
    left -= bytes.length
  }
}

t.test('a client that answers no ping is cut before the next but one', async t => {
  const { pass, isOpen } = await scene(t)
  pass()
  t.equal(isOpen(), true)
  pass()
  t.equal(isOpen(), false)
})

t.test('bug: a client that reads a long queue slowly was cut, as its pong was not read', async t => {
  const { webSocket, queue, read, pass, isOpen } = await scene(t)
  for (let sent = 0; sent < QUEUED; sent += 2 ** 20) queue.send(Buffer.alloc(2 ** 20, 'x'))
  await new Promise(setImmediate)
  pass()
  // As its socket does while the queue is long.
  webSocket.pause()
  for (let i = 0; i < 4; i += 1) {
    await read()
    pass()
    t.equal(isOpen(), true, 'it reads')
  }
  webSocket.resume()
  await read()
  pass()
  t.equal(isOpen(), true, 'the pings stand in the queue also while it is read from')
  webSocket.pause()
  const isCut = (): Promise<boolean> => {
    pass()
    return Promise.resolve(!isOpen())
  }
  await until('it is cut, as it reads no more', isCut)
})

t.test('bug: a client whose many slow calls kept its pong from being read was cut', async t => {
  const { webSocket, pass, isOpen } = await scene(t)
  webSocket.pause()
  for (let i = 0; i < 4; i += 1) pass()
  t.equal(isOpen(), true)
  webSocket.resume()
  pass()
  pass()
  t.equal(isOpen(), false)
})
