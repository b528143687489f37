/** A node that answers at once: as little as possible, so that it is never what is measured. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

const RESULT = `"0x${'ab'.repeat(64)}"`

const server = createServer((request, response) => {
  let body = ''
  request.setEncoding('latin1')
  request.on('data', (chunk: string) => (body += chunk))
  request.on('end', () => {
    const id = /"id":(\d+)/.exec(body)?.[1] ?? 'null'
    const reply = `{"jsonrpc":"2.0","id":${id},"result":${RESULT}}`
    response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(reply.length)])
    response.end(reply, 'latin1')
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
