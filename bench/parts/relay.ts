/** The reference: node:http or ws in, undici out, JSON.parse, nothing else. `UPSTREAM` is where to. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { WebSocketServer } from 'ws'

const pool = new Pool(process.env['UPSTREAM'] ?? '', { connections: 256, pipelining: 1 })

function forward(body: Buffer, answer: (reply: Buffer) => void, fail: () => void): void {
  JSON.parse(body.toString())
  const reply: Buffer[] = []
  pool.dispatch(
    { path: '/', method: 'POST', headers: { 'content-type': 'application/json' }, body },
    {
      onRequestStart: () => undefined,
      onResponseStart: () => undefined,
      onResponseData: (_, chunk) => void reply.push(chunk),
      onResponseEnd: () => {
        answer(Buffer.concat(reply))
      },
      onResponseError: fail,
    },
  )
}

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const answer = (whole: Buffer): void => {
      response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
      response.end(whole)
    }
    forward(Buffer.concat(chunks), answer, () => response.destroy())
  })
})
const acceptor = new WebSocketServer({ server, perMessageDeflate: false })
acceptor.on('connection', socket => {
  socket.on('message', (frame: Buffer) => {
    const answer = (whole: Buffer): void => {
      socket.send(whole, { binary: false })
    }
    forward(frame, answer, () => {
      socket.terminate()
    })
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
