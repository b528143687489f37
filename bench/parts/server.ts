/**
 * A server that answers each POST with one fixed reply and the headers of the gateway's replies. With `OWN_BODY` it takes bodies as the gateway does,
 * with `OWN_HEAD` it writes replies so; without them by the means of Node's documentation.
 */
import { createServer, IncomingMessage } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { ClientRequest, collectBody } from '../../src/http/body.ts'
import { corsHeaders, headersOf, nextRequestId, sayKeepAlive } from '../../src/http/replies/reply.ts'
import { sendText } from '../../src/http/replies/write-batching.ts'

const REPLY = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'
const LIMIT = 1024 * 1024
const RATE = { limit: 1000, remaining: 999, reset: 1 }

const ownBody = process.env['OWN_BODY'] !== undefined
const ownHead = process.env['OWN_HEAD'] !== undefined

function reply(response: ServerResponse): void {
  const headers = headersOf({ requestId: nextRequestId(), cors: corsHeaders(['*'], undefined), rate: RATE })
  headers.push('Content-Length', String(REPLY.length))
  if (ownHead) sendText(response, 200, headers, REPLY)
  else {
    response.writeHead(200, headers)
    response.end(REPLY, 'latin1')
  }
}

const server = createServer(
  { IncomingMessage: ownBody ? ClientRequest : IncomingMessage, noDelay: true },
  (request, response) => {
    sayKeepAlive(response, 75_000)
    collectBody(request, LIMIT, null, () => {
      reply(response)
    })
  },
)
server.keepAliveTimeout = 0
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
