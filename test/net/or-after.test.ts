/** Waits with an end: what comes in time, what comes too late, and what waits in a socket while the process stands still. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { orAfter } from '../../src/net/or-after.ts'

t.test('an event that came, and one that never comes', async t => {
  t.equal(await orAfter(Promise.resolve(), 0), true)
  t.equal(await orAfter(new Promise<void>(() => undefined), 20), false)
})

t.test('bug: what had arrived while the process stood still counted as late', async t => {
  const server = createServer(socket => socket.write('here'))
  t.teardown(() => server.close())
  await new Promise<void>(resolve => server.listen(0, '127.0.0.1', resolve))
  const socket = connect((server.address() as AddressInfo).port, '127.0.0.1')
  t.teardown(() => socket.destroy())
  const waited = orAfter(
    once(socket, 'data').then(() => undefined),
    40,
  )
  const until = performance.now() + 100
  while (performance.now() < until);
  t.equal(await waited, true)
})
