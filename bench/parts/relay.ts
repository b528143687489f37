/** The reference: node:http in, undici out, JSON.parse, nothing else. `UPSTREAM` is where to. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'

const pool = new Pool(process.env['UPSTREAM'] ?? '', { connections: 256, pipelining: 1 })

const server = createServer((request, response) => {
  const chunks: Buffer[] = []
  request.on('data', (chunk: Buffer) => chunks.push(chunk))
  request.on('end', () => {
    const body = Buffer.concat(chunks)
    JSON.parse(body.toString())
    const reply: Buffer[] = []
    pool.dispatch(
      { path: '/', method: 'POST', headers: { 'content-type': 'application/json' }, body },
      {
        onRequestStart: () => undefined,
        onResponseStart: () => undefined,
        onResponseData: (_, chunk) => void reply.push(chunk),
        onResponseEnd: () => {
          const whole = Buffer.concat(reply)
          response.writeHead(200, { 'content-type': 'application/json', 'content-length': whole.length })
          response.end(whole)
        },
        onResponseError: () => response.destroy(),
      },
    )
  })
})
server.listen(0, '127.0.0.1', () => {
  console.log(JSON.stringify({ msg: 'ready', listen: `127.0.0.1:${(server.address() as AddressInfo).port}` }))
})
