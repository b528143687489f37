import { once } from 'node:events'
import { createServer, get } from 'node:http'
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import t from 'tap'
import { connectionsOf } from '../../src/http/connection.ts'
import { sendWithTurn } from '../../src/http/replies/write-batching.ts'

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
  t.match(await warned, [{ code: 'ERR_INVALID_CHAR' }])
  await lost
  t.equal((await kept).headers['content-type'], 'text/plain')
})
