import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { writePiece } from '../../src/http/replies/write-batching.ts'
import { pipelined } from '../support/pipelined.ts'
import { startPlainServer } from '../support/plain-server.ts'

const STALL = 50
/** No buffer of the system takes it whole. */
const PIECE = Buffer.alloc(64 * 2 ** 20, 'a')

const server = await startPlainServer(t)

t.test('a client that does not read is cut', async t => {
  const { socket, responses } = await pipelined(t, server)
  const [response] = responses
  t.equal(await writePiece(response, PIECE, STALL), false)
  t.ok(response.destroyed)
  t.equal(await writePiece(response, PIECE, STALL), false, 'there is nobody left to write to')
  socket.resume()
  await once(socket, 'close')
})

t.test('a reply that waits behind another one is not cut for it', async t => {
  const { socket, responses } = await pipelined(t, server)
  const [first, second] = responses
  first.flushHeaders()
  let written: boolean | null = null
  const writing = writePiece(second, PIECE, STALL).then(isWritten => (written = isWritten))
  await pause(STALL * 6)
  t.equal(written, null)
  socket.resume()
  first.end()
  t.equal(await writing, true)
})

t.test('what waits leaves no listener behind', async t => {
  const { socket, responses } = await pipelined(t, server)
  const [response] = responses
  const { socket: connection } = response.req
  const count = () => [response.listenerCount('drain'), response.listenerCount('close')]
  const before = count()
  socket.resume()
  t.equal(await writePiece(response, PIECE), true)
  const onClose = connection.listenerCount('close')
  for (let i = 0; i < 3; i++) t.equal(await writePiece(response, Buffer.alloc(2 ** 20)), true)
  t.same(count(), before)
  t.equal(connection.listenerCount('close'), onClose, 'one serves all')
})
