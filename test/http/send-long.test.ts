import { once } from 'node:events'
import { request } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { LongText } from '../../src/jsonrpc/long-text.ts'
import { sendLong } from '../../src/http/replies/send-long.ts'
import { pipelined } from '../support/pipelined.ts'
import { startPlainServer } from '../support/plain-server.ts'

/** Long replies leave in pieces, with everybody else's work between them. */
const PIECE = 256 * 1024
const server = await startPlainServer(t)
const { port } = server.address() as AddressInfo

/** Sends a request; gives its open reply, and what the client gets. */
async function asked(): Promise<{
  readonly response: ServerResponse
  readonly reply: Promise<IncomingMessage>
}> {
  const sending = request({ port, host: '127.0.0.1', agent: false }).end()
  const reply = once(sending, 'response') as Promise<[IncomingMessage]>
  const [, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  return { response, reply: reply.then(([message]) => message) }
}

async function textOf(message: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of message as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('latin1')
}

const text = Array.from({ length: 300 }, (_, i) => String.fromCharCode(i % 256).repeat(5_000)).join('')
const longReply = () => new LongText([{ raw: text }])

/** Hears of each piece that is written to a reply. */
function onPiece(response: ServerResponse, heard: (bytes: number) => void): void {
  const write = response.write.bind(response) as (piece: Buffer) => boolean
  response.write = (piece: Buffer) => {
    heard(piece.length)
    return write(piece)
  }
}

t.test('a long reply leaves in pieces, and others have their turn between any two', async t => {
  const { response, reply } = await asked()
  const seen: (number | 'turn')[] = []
  onPiece(response, bytes => seen.push(bytes))
  let isOver = false
  const everyTurn = (): void => {
    seen.push('turn')
    if (!isOver) setImmediate(everyTurn)
  }
  setImmediate(everyTurn)
  const [message] = await Promise.all([
    reply.then(async message => ({ message, body: await textOf(message) })),
    sendLong(response, 200, ['X-Name', 'value'], longReply()),
  ])
  isOver = true
  t.ok(message.body === text, 'byte for byte')
  t.match(message.message.headers, { 'content-length': String(text.length), 'x-name': 'value' })
  t.notOk('transfer-encoding' in message.message.headers)
  const sizes = seen.filter(each => each !== 'turn')
  const whole = Math.floor(text.length / PIECE)
  t.same(sizes, [...Array.from({ length: whole }, () => PIECE), text.length % PIECE])
  for (const [i, each] of seen.entries())
    if (each !== 'turn' && typeof seen[i + 1] === 'number') t.fail(`piece ${i} has no turn behind it`)
})

t.test('several leave side by side', async t => {
  const all = [await asked(), await asked(), await asked()]
  const order: number[] = []
  for (const [i, { response }] of all.entries()) onPiece(response, () => order.push(i))
  const bodies = all.map(async ({ reply }) => textOf(await reply))
  await Promise.all(all.map(({ response }) => sendLong(response, 200, [], longReply())))
  for (const body of bodies) t.ok((await body) === text)
  const firstEnd = Math.min(...all.map((_, i) => order.lastIndexOf(i)))
  t.same([...new Set(order.slice(0, firstEnd))].sort(), [0, 1, 2], 'each has begun before one is over')
})

t.test('what has been answered meanwhile keeps its answer', async t => {
  const { response, reply } = await asked()
  const sending = sendLong(response, 200, [], longReply())
  response.end('first')
  await sending
  t.equal(await textOf(await reply), 'first')
})

t.test('a head that cannot be written costs its own reply only', async t => {
  const { response, reply } = await asked()
  const warned = once(process, 'warning')
  const lost = t.rejects(reply, { code: 'ECONNRESET' })
  await sendLong(response, 200, ['X-Name', 'a\nb'], longReply())
  t.match(await warned, [{ code: 'ERR_INVALID_CHAR' }])
  await lost
})

t.test('a client that leaves ends the replies that wait behind another, too', async t => {
  const { socket, responses } = await pipelined(t, server)
  // No buffer of the system takes it whole.
  const endless = () => new LongText([{ raw: 'a'.repeat(64 * 2 ** 20) }])
  const over = Promise.all(responses.map(response => sendLong(response, 200, [], endless())))
  while (responses.some(({ writableLength }) => writableLength === 0)) await turn()
  t.equal(responses[1].socket, null, 'the second one waits behind the first')
  socket.destroy()
  await over
})
