/** A node that answers at once: as little as possible, so that it is never what is measured. */
import { createServer } from 'node:http'
import type { ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

const RESULT = `"0x${'ab'.repeat(64)}"`

/** What the gateway asks on its own account. */
const OWN: Readonly<Record<string, string>> = {
  eth_chainId: '"0x1"',
  eth_blockNumber: '"0x10"',
  eth_syncing: 'false',
}

function replyTo(id: string, result: string): string {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
}

function end(response: ServerResponse, reply: string): void {
  response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(reply.length)])
  response.end(reply, 'latin1')
}

/** How many of its own questions were asked so far: what a GET is told. */
let asked = 0

const server = createServer((request, response) => {
  if (request.method === 'GET') {
    response.end(String(asked))
    return
  }
  let body = ''
  request.setEncoding('latin1')
  request.on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    if (body.startsWith('[')) {
      const replies = Array.from(body.matchAll(/"id":(\d+)/g), ([, each]) => replyTo(each!, RESULT))
      end(response, `[${replies.join(',')}]`)
      return
    }
    const id = /"id":(\d+)/.exec(body)?.[1] ?? 'null'
    const own = OWN[/"method":"(\w+)"/.exec(body)?.[1] ?? '']
    if (own !== undefined) asked += 1
    end(response, replyTo(id, own ?? RESULT))
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
