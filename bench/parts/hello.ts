/** The reference for what the gateway answers itself: a bare Node server, and a bare ws one, with a fixed reply. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { WebSocketServer } from 'ws'

const REPLY = '{"jsonrpc":"2.0","id":1,"result":"0x1"}'

const server = createServer((request, response) => {
  request.on('data', () => undefined)
  request.on('end', () => {
    response.writeHead(200, ['Content-Type', 'application/json', 'Content-Length', String(REPLY.length)])
    response.end(REPLY)
  })
})
const acceptor = new WebSocketServer({ server, perMessageDeflate: false })
acceptor.on('connection', socket => {
  socket.on('message', () => {
    socket.send(REPLY)
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
