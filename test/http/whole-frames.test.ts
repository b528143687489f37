import { createHash } from 'node:crypto'
import { once } from 'node:events'
import { connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import t from 'tap'
import { WebSocketServer } from 'ws'
import type { WebSocket } from 'ws'
import { ClientConnection } from '../../src/http/websocket/client-connection.ts'
import { readWholeFrames } from '../../src/http/websocket/whole-frames.ts'

/** Bytes of a message at most: more than two bytes can say, and fewer. */
const MOST = 70_000
const FEWER = 60_000
const server = new WebSocketServer({
  host: '127.0.0.1',
  port: 0,
  maxPayload: MOST,
  WebSocket: ClientConnection,
})
t.teardown(() => server.close())
await once(server, 'listening')
const { port } = server.address() as AddressInfo

const HANDSHAKE = `GET / HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`

/**
 * What happens to a connection that reads these pieces, each in a turn of its own, or all in one, as a paused socket does when it goes on;
 * `rest` is what was left to ws of each.
 */
async function heard(pieces: readonly Buffer[], isOurs: boolean, most = MOST, isOneTurn = false) {
  server.options.maxPayload = most
  const client = connect(port, '127.0.0.1').on('error', () => undefined)
  client.write(HANDSHAKE)
  const [connection, { socket }] = (await once(server, 'connection')) as [WebSocket, { socket: Socket }]
  const events: unknown[] = []
  const rest: number[] = []
  if (isOurs) readWholeFrames(connection, bytes => rest.push(bytes))
  connection.on('message', (data: Buffer, isBinary) =>
    events.push([isBinary ? 'binary' : 'text', data.length, digestOf(data)]),
  )
  connection.on('ping', (data: Buffer) => events.push(['ping', digestOf(data)]))
  connection.on('error', (error: Error) => events.push(['error', error.message]))
  const close = connection.close.bind(connection)
  connection.close = (code, reason) => {
    events.push(['close', code, String(reason ?? '')])
    close(code, reason)
  }
  // What is read is unmasked where it lies, so each gets its own bytes.
  for (const piece of pieces) {
    socket.emit('data', Buffer.from(piece))
    // What ws finds wrong it says at the end of the turn.
    if (!isOneTurn) await new Promise(setImmediate)
  }
  await new Promise(setImmediate)
  events.push(['state', connection.readyState])
  connection.terminate()
  client.destroy()
  return { events, rest }
}

/** Short for what may be long. */
function digestOf(data: Buffer): string {
  return createHash('sha256').update(data).digest('base64url')
}

/** A frame as a client sends it. */
function frame(
  payload: string | Buffer,
  { first = 0x81, isMasked = true, mask = [1, 2, 250, 4] } = {},
): Buffer {
  const data = Buffer.from(payload)
  const short = data.length < 126 ? data.length : data.length < 65_536 ? 126 : 127
  const length = Buffer.alloc(short < 126 ? 0 : short === 126 ? 2 : 8)
  if (short === 126) length.writeUInt16BE(data.length)
  if (short === 127) length.writeBigUInt64BE(BigInt(data.length))
  const head = Buffer.from([first, short | (isMasked ? 0x80 : 0)])
  if (!isMasked) return Buffer.concat([head, length, data])
  return Buffer.concat([head, length, Buffer.from(mask), data.map((byte, i) => byte ^ mask[i & 3]!)])
}

const call = '{"jsonrpc":"2.0","id":1,"method":"eth_call","params":["é"]}'
const long = (length: number): Buffer => frame('x'.repeat(length))
const CLOSE = frame(Buffer.from([0x03, 0xe8, 0x62]), { first: 0x88 })

const streams: readonly (readonly [name: string, ...frames: Buffer[]])[] = [
  ['one message', frame(call)],
  [
    'messages of each length',
    frame(''),
    long(1),
    long(125),
    long(126),
    long(65_535),
    long(65_536),
    frame(call),
  ],
  ['a message as long as may be, and one that is longer', long(MOST), long(MOST + 1), frame(call)],
  ['the same with fewer bytes', long(FEWER), long(FEWER + 1), frame(call)],
  [
    'what looks like the begin of a frame',
    frame('x', { mask: [0x80, 1, 2, 3] }),
    frame('abcd', { mask: [0x81, 0x80, 1, 2] }),
  ],
  ['zero as the mask', frame(call, { mask: [0, 0, 0, 0] }), frame(call)],
  ['fragments', frame('a', { first: 1 }), frame('b', { first: 0 }), frame('c', { first: 0x80 }), frame(call)],
  ['a message amid fragments', frame('a', { first: 1 }), frame(call), frame('c', { first: 0x80 })],
  [
    'a ping amid fragments',
    frame('a', { first: 1 }),
    frame('p', { first: 0x89 }),
    frame('c', { first: 0x80 }),
  ],
  ['a ping between messages', frame(call), frame('p', { first: 0x89 }), frame(call)],
  ['a binary message', frame(call), frame('b', { first: 0x82 }), frame(call)],
  ['text that is not UTF-8', frame(call), frame(Buffer.from([0x61, 0x61, 0xff])), frame(call)],
  ['a fragment that is not UTF-8', frame(Buffer.from([0xff]), { first: 1 }), frame('', { first: 0x80 })],
  ['no mask', frame(call), frame(call, { isMasked: false }), frame(call)],
  ['a reserved bit', frame(call), frame(call, { first: 0xc1 }), frame(call)],
  ['an unknown opcode', frame(call), frame(call, { first: 0x83 }), frame(call)],
  ['a message behind a close', frame(call), CLOSE, frame(call)],
]

const runs = streams.flatMap(stream => [MOST, FEWER].map(most => ({ stream, most })))
for (const {
  stream: [name, ...frames],
  most,
} of runs)
  t.test(`${name}, at most ${most}: the same as with ws alone, however it is cut`, async t => {
    const bytes = Buffer.concat(frames)
    const step = Math.ceil(bytes.length / 40)
    const cuts = Array.from({ length: Math.ceil(bytes.length / step) }, (_, i) => i * step)
    const ways = [frames, ...cuts.map(at => [bytes.subarray(0, at), bytes.subarray(at)])]
    for (const pieces of ways) {
      const [ours, theirs] = [await heard(pieces, true, most), await heard(pieces, false, most)]
      t.strictSame(ours.events, theirs.events, `cut at ${pieces[0]!.length}`)
    }
  })

t.test('bug: a message in the same turn behind what is wrong was read', async t => {
  const wrong = [
    Buffer.from([0x83, 0x80]),
    Buffer.from([0x81, 1]),
    Buffer.from([0xc1, 0x80]),
    frame(Buffer.from([0xff])),
    frame(Buffer.from([0x03, 0xed]), { first: 0x88 }),
    long(MOST + 1).subarray(0, 10),
  ]
  for (const bytes of wrong) {
    const pieces = [frame(call), bytes, frame(call), frame(call)]
    const [ours, theirs] = [await heard(pieces, true, MOST, true), await heard(pieces, false, MOST, true)]
    t.strictSame(ours.events, theirs.events, bytes.subarray(0, 10).toString('hex'))
    t.equal(ours.events.filter(event => Array.isArray(event) && event[0] === 'text').length, 1)
  }
})

t.test('only what did not come whole is left to ws', async t => {
  const [short, ping] = [frame(call), frame('p', { first: 0x89 })]
  const half = short.subarray(0, 20)
  t.strictSame((await heard([Buffer.concat([short, short, long(65_535)]), short], true)).rest, [])
  t.strictSame((await heard([Buffer.concat([short, half]), short.subarray(20), short], true)).rest, [
    20,
    short.length - 20,
  ])
  t.strictSame((await heard([Buffer.concat([short, ping, short]), short], true)).rest, [
    ping.length + short.length,
  ])
})

t.test('of what went to ws it tells how much is kept', async t => {
  const [ping, begin] = [frame('p', { first: 0x89 }), frame('a', { first: 1 })]
  const kept: (number | null)[] = []
  const client = connect(port, '127.0.0.1').on('error', () => undefined)
  client.write(HANDSHAKE)
  const [connection, { socket }] = (await once(server, 'connection')) as [WebSocket, { socket: Socket }]
  readWholeFrames(connection, (_, bytes) => kept.push(bytes))
  const [end, cut] = [frame('c', { first: 0x80 }), long(65_536)]
  const runs: readonly (readonly [bytes: Buffer, kept: number | null])[] = [
    [ping, 0],
    [Buffer.concat([ping, ping.subarray(0, 1)]), 1],
    [Buffer.concat([ping.subarray(1), frame(call), ping.subarray(0, 1)]), 1],
    [ping.subarray(1), 0],
    [begin, null],
    [ping, null],
    [end, 0],
    // Its head of 14 bytes is not kept.
    [cut.subarray(0, 114), 100],
    [cut.subarray(114, 1_000), null],
    [Buffer.concat([cut.subarray(1_000), ping]), 0],
  ]
  for (const [bytes] of runs) socket.emit('data', Buffer.from(bytes))
  t.strictSame(
    kept,
    runs.map(([, bytes]) => bytes),
  )
  connection.terminate()
  client.destroy()
})

t.test('what closes the connection leaves the rest to ws', async t => {
  const client = connect(port, '127.0.0.1').on('error', () => undefined)
  client.write(HANDSHAKE)
  const [connection, { socket }] = (await once(server, 'connection')) as [WebSocket, { socket: Socket }]
  const rest: number[] = []
  readWholeFrames(connection, bytes => rest.push(bytes))
  connection.once('message', () => connection.close(1008, 'no more'))
  socket.emit('data', Buffer.concat([frame(call), frame(call)]))
  t.strictSame(rest, [frame(call).length])
  connection.terminate()
  client.destroy()
})
