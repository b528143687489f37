/** A node with a WebSocket that pushes heads as fast as it is told; and the references for fan-out: a bare broadcaster, and bare writes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Duplex } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { machineTime } from './subscribers.ts'

const HEAD = (number: number): string =>
  `{"number":"0x${number.toString(16)}","hash":"0x${number.toString(16).padStart(64, '0')}","parentHash":"0x${'cd'.repeat(32)}","logsBloom":"0x${'00'.repeat(256)}","gasUsed":"0x5208"}`

let number = 1
/** The connections of its sockets. */
const connections = new Set<Duplex>()
const acceptor = new WebSocketServer({ noServer: true, perMessageDeflate: false })
acceptor.on('connection', socket => {
  socket.on('message', (data: Buffer) => {
    const id = /"id":(\d+)/.exec(data.toString('latin1'))?.[1] ?? 'null'
    socket.send(`{"jsonrpc":"2.0","id":${id},"result":"0x1"}`)
  })
})

/** Sends one head to every socket; `isBare` writes the same frame to each connection, and does nothing else. */
function push(isBare: boolean): void {
  number += 1
  const message = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x1","result":${HEAD(number)}}}`
  if (!isBare) for (const socket of acceptor.clients) socket.send(message)
  else {
    const frame = Buffer.from(`\x81\x7e\0\0${message}`, 'latin1')
    frame.writeUInt16BE(message.length, 2)
    for (const connection of connections) connection.write(frame)
  }
}

/** Sends so many heads, one each `every` milliseconds; resolves with when each was begun to be sent. */
async function pushAll(heads: number, every: number, isBare: boolean): Promise<number[]> {
  const times: number[] = []
  for (let due = machineTime(); times.length < heads; due += every) {
    await sleep(Math.max(0, due - machineTime()))
    times.push(machineTime())
    push(isBare)
  }
  return times
}

// GET /push sends one head to every socket, or with `heads` and `every` more, with `bare` past ws; any POST is answered as a node would.
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const asked = new URL(request.url ?? '', 'http://node').searchParams
    const [heads, every] = [Number(asked.get('heads') ?? 1), Number(asked.get('every') ?? 0)]
    void pushAll(heads, every, asked.has('bare')).then(times => {
      response.end(JSON.stringify(times))
    })
    return
  }
  let body = ''
  request.on('data', (chunk: Buffer) => (body += chunk.toString('latin1')))
  request.on('end', () => {
    response.end(`{"jsonrpc":"2.0","id":${/"id":(\d+)/.exec(body)?.[1] ?? 'null'},"result":"0x1"}`)
  })
})
server.on('upgrade', (request, socket, head) => {
  connections.add(socket)
  socket.on('close', () => connections.delete(socket))
  acceptor.handleUpgrade(request, socket, head, client => acceptor.emit('connection', client, request))
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
