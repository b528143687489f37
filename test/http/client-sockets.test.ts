/** The sockets of all clients, as they are looked after. */
import { EventEmitter, once } from 'node:events'
import t from 'tap'
import { ClientSockets } from '../../src/http/websocket/client-sockets.ts'
import { Heartbeat } from '../../src/http/websocket/heartbeat.ts'

t.test('bug: a wall clock that was set back does not keep clients from being pinged', async t => {
  // Looking after them keeps no process.
  const held = setInterval(() => undefined, 1_000)
  t.teardown(() => {
    clearInterval(held)
  })
  const connection = Object.assign(new EventEmitter(), {
    ping: () => connection.emit('pinged'),
    terminate: () => undefined,
  })
  const sockets = new ClientSockets({ epoch: 0 } as never)
  const queue = { isEmpty: true, isBeingRead: () => false }
  const heartbeat = new Heartbeat(connection as never, queue as never)
  const ticked = new Promise<void>(resolve => {
    const tick = (now: number): void => {
      heartbeat.tick(now)
      resolve()
    }
    sockets.add({ network: 'alpha', tick } as never, { free: () => undefined } as never)
  })
  await ticked
  const wall = Date.now
  const monotonic = performance.now.bind(performance)
  t.teardown(() => {
    Date.now = wall
    performance.now = monotonic
  })
  Date.now = () => wall() - 3_600_000
  performance.now = () => monotonic() + 31_000
  await once(connection, 'pinged')
  t.pass('it is pinged after half a minute')
})
