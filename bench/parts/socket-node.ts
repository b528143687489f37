/** A node with a WebSocket that pushes heads as fast as it is told; and a bare broadcaster, the reference for fan-out. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { WebSocketServer } from 'ws'
import { machineTime } from './subscribers.ts'

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

/** Sends one head to every socket. */
function push(): void {
  number += 1
  const frame = `{"jsonrpc":"2.0","method":"eth_subscription","params":{"subscription":"0x1","result":${HEAD(number)}}}`
  for (const socket of acceptor.clients) socket.send(frame)
}

/** Sends so many heads, one each `every` milliseconds; resolves with when each was begun to be sent. */
async function pushAll(heads: number, every: number): Promise<number[]> {
  const times: number[] = []
  for (let due = machineTime(); times.length < heads; due += every) {
    await sleep(Math.max(0, due - machineTime()))
    times.push(machineTime())
    push()
  }
  return times
}

// GET /push sends one head to every socket, or with `heads` and `every` more; any POST is answered as a node would.
const server = createServer((request, response) => {
  if (request.method === 'GET') {
    const asked = new URL(request.url ?? '', 'http://node').searchParams
    void pushAll(Number(asked.get('heads') ?? 1), Number(asked.get('every') ?? 0)).then(times => {
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
  acceptor.handleUpgrade(request, socket, head, client => acceptor.emit('connection', client, request))
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
