import { Socket } from 'node:net'
import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { connectionsOf } from '../../src/http/connection.ts'
import { nextRequestId, sayKeepAlive } from '../../src/http/replies/reply.ts'
import { corkForTurn, sendText, sendWithTurn, turnsSoFar } from '../../src/http/replies/write-batching.ts'

const server = createServer()
server.listen(0, '127.0.0.1')
await once(server, 'listening')
t.teardown(() => server.close())
const { port } = server.address() as AddressInfo

/** Sends a request; resolves when it was entered, with its reply still open. */
async function entered(): Promise<{
  readonly response: ServerResponse
  readonly reply: Promise<IncomingMessage>
}> {
  const reply = once(get({ port, host: '127.0.0.1' }), 'response') as Promise<[IncomingMessage]>
  const [request, response] = (await once(server, 'request')) as [IncomingMessage, ServerResponse]
  await new Promise<void>(resolve => {
    connectionsOf(server).enter(request, response, () => {
      resolve()
    })
  })
  return { response, reply: reply.then(([message]) => message.resume()) }
}

// V8 kept the list of two in the old part of the heap, and with it the reply, until a full collection.
t.test('the end of a reply has one listener', async t => {
  const { response, reply } = await entered()
  t.equal(response.listenerCount('close'), 1)
  response.end()
  await reply
})

t.test('a head that cannot be written costs its own reply only', async t => {
  const [bad, good] = [await entered(), await entered()]
  const warned = once(process, 'warning')
  const headers = (value: string): string[] => ['Content-Type', value, 'Content-Length', '2']
  const [lost, kept] = [t.rejects(bad.reply, { code: 'ECONNRESET' }), good.reply]
  sendWithTurn({ response: bad.response, status: 200, headers: headers('a\nb'), body: '{}', budget: null })
  sendWithTurn({
    response: good.response,
    status: 200,
    headers: headers('text/plain'),
    body: '{}',
    budget: null,
  })
  t.match(await warned, [{ message: 'the header Content-Type holds a control character' }])
  await lost
  t.equal((await kept).headers['content-type'], 'text/plain')
})

/** What comes over one connection for the bytes of some requests, each of which `send` answers; without the time of day. */
async function bytesFor(
  requests: readonly string[],
  send: (response: ServerResponse) => void,
): Promise<string> {
  const answering = createServer((_, response) => {
    sayKeepAlive(response, 5_000)
    send(response)
  })
  answering.keepAliveTimeout = 0
  answering.listen(0, '127.0.0.1')
  await once(answering, 'listening')
  const socket = connect((answering.address() as AddressInfo).port, '127.0.0.1').setEncoding('latin1')
  let text = ''
  socket.on('data', (more: string) => {
    text += more
    if (!text.includes('Connection: close')) socket.end()
  })
  socket.write(requests.join(''))
  await once(socket, 'close')
  answering.close()
  return text.replaceAll(/^Date: .*\r$/gm, 'Date:\r')
}

for (const [name, ...requests] of [
  ['one request', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['pipelined requests', 'GET / HTTP/1.1\r\nHost: a\r\n\r\n', 'GET /b HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a last request', 'GET / HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n'],
  ['HTTP/1.0', 'GET / HTTP/1.0\r\nHost: a\r\n\r\n'],
  ['HTTP/1.0 that keeps its connection', 'GET / HTTP/1.0\r\nHost: a\r\nConnection: keep-alive\r\n\r\n'],
  ['HEAD', 'HEAD / HTTP/1.1\r\nHost: a\r\n\r\n'],
] as const) {
  t.test(`a whole reply to ${name} is the one that Node would write`, async t => {
    const body = '{"a":"\u00e9"}'
    const headers = ['Content-Type', 'application/json', 'X', 'y', 'Content-Length', String(body.length)]
    const ours = await bytesFor(requests, response => {
      sendText(response, 404, headers, body)
      t.ok(response.headersSent)
      t.equal(response.statusCode, 404)
    })
    const nodes = await bytesFor(requests, response => {
      response.writeHead(404, headers)
      response.end(body, 'latin1')
    })
    t.equal(ours, nodes)
    t.match(ours, /^HTTP\/1\.1 404 Not Found\r\n/)
  })
}

// `tollgate find` took one in 64 ids for an option.
t.test('a request id is a word on a command line', t => {
  const ids = Array.from({ length: 10_000 }, nextRequestId)
  t.equal(new Set(ids).size, ids.length)
  t.strictSame(
    ids.filter(id => !/^\w[\w-]{15}$/.test(id)),
    [],
  )
  t.end()
})

t.test(
  'of many sockets that are written to in one turn, the first are sent theirs before the last are written to',
  async t => {
    const sockets = Array.from({ length: 200 }, () => new Socket())
    const before = turnsSoFar()
    const corked = sockets.map(socket => {
      corkForTurn(socket)
      return sockets.filter(each => each.writableCorked > 0).length
    })
    t.equal(Math.max(...corked), 64)
    t.equal(sockets[0]!.writableCorked, 0)
    await new Promise(setImmediate)
    t.strictSame(
      sockets.filter(each => each.writableCorked > 0),
      [],
      'and the last with the end of the turn',
    )
    await new Promise(setImmediate)
    t.equal(turnsSoFar(), before + 1, 'bug: such a turn counted as several')
  },
)
