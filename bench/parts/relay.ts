/**
 * The reference, as tight as Node.js allows: node:http or ws in, `Pool.dispatch` out, JSON.parse, nothing else. Bodies of one chunk are used as they
 * are, headers are flat arrays. `UPSTREAM` is where to. With `OWN_CONNECTIONS` the gateway's connections stand in for the pool.
 */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { WebSocketServer } from 'ws'
import { Connections } from '../../src/routes/transport/connections.ts'

const origin = process.env['UPSTREAM'] ?? ''

/** Posts a body, and hears of the reply. */
type Post = (body: Buffer, heard: Heard) => void

interface Heard {
  readonly onData: (piece: Buffer | string) => void
  readonly onComplete: () => void
  readonly onError: () => void
}

function ofUndici(): Post {
  const pool = new Pool(origin, { connections: 256, pipelining: 1, headersTimeout: 0, bodyTimeout: 0 })
  const headers = ['content-type', 'application/json']
  return (body, { onData, onComplete, onError }) => {
    const handler = {
      onConnect: () => undefined,
      onHeaders: () => true,
      onData: (piece: Buffer) => {
        onData(piece)
        return true
      },
      onComplete,
      onError,
    }
    // undici's older interface, which its types no longer have, spares an object for the headers.
    pool.dispatch({ path: '/', method: 'POST', headers, body }, handler)
  }
}

function ofTheGateway(): Post {
  const connections = new Connections({ origin, most: 256, connectTimeout: 10_000 })
  const head = `POST / HTTP/1.1\r\nhost: ${new URL(origin).host}\r\ncontent-type: application/json\r\ncontent-length: `
  return (body, heard) => {
    const text = `${head}${body.length}\r\n\r\n${body.toString('latin1')}`
    connections.dispatch(text, { onSent: () => undefined, onHead: () => undefined, ...heard })
  }
}

const post = process.env['OWN_CONNECTIONS'] === undefined ? ofUndici() : ofTheGateway()

function forward(body: Buffer, answer: (reply: Buffer) => void, fail: () => void): void {
  JSON.parse(body.toString('latin1'))
  let reply: Buffer | null = null
  post(body, {
    onData: piece => {
      const bytes = typeof piece === 'string' ? Buffer.from(piece, 'latin1') : piece
      reply = reply === null ? bytes : Buffer.concat([reply, bytes])
    },
    onComplete: () => {
      answer(reply!)
    },
    onError: fail,
  })
}

const server = createServer((request, response) => {
  let body: Buffer | null = null
  request.on('data', (chunk: Buffer) => {
    body = body === null ? chunk : Buffer.concat([body, chunk])
  })
  request.on('end', () => {
    const answer = (whole: Buffer): void => {
      response.writeHead(200, ['content-type', 'application/json', 'content-length', String(whole.length)])
      response.end(whole)
    }
    forward(body!, answer, () => response.destroy())
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
