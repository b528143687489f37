/** A node with a WebSocket that pushes heads as fast as it is told; and a bare broadcaster, the reference for fan-out. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

const HEAD = (number: number): string =>
  `{"number":"0x${number.toString(16)}","hash":"0x${number.toString(16).padStart(64, '0')}","parentHash":"0x${'cd'.repeat(32)}","logsBloom":"0x${'00'.repeat(256)}","gasUsed":"0x5208"}`

let number = 1
const acceptor = new WebSocketServer({ noServer: true, perMessageDeflate: false })
acceptor.on('connection', socket => {
  socket.on('message', (data: Buffer) => {
    const id = /"id":(\d+)/.exec(data.toString('latin1'))?.[1] ?? 'null'
    socket.send(`{"jsonrpc":"2.0","id":${id},"result":"0x1"}`)
  })
})

// GET /push sends one head to every socket; any POST is answered as a node would.
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    number += 1
    const frame = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x1","result":${HEAD(number)}}}`
    for (const socket of acceptor.clients) socket.send(frame)
    response.end()
    return
  }
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
  request.on('end', () => {
    response.end(`{"jsonrpc":"2.0","id":${/"id":(\d+)/.exec(body)?.[1] ?? 'null'},"result":"0x1"}`)
  })
})
server.on('upgrade', (request, socket, head) => {
  acceptor.handleUpgrade(request, socket, head, client => acceptor.emit('connection', client, request))
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
