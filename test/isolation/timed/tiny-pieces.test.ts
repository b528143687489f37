import { connect } from 'node:net'
import { once } from 'node:events'
import t from 'tap'
import { message } from '../../support/access.ts'
import { startGateway } from '../../support/gateway.ts'
import { memoryIsVisible, resident } from '../../support/memory.ts'
import { startNode } from '../../support/scripted-node.ts'
import { until } from '../../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001, public: true } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
})
const head = (more: string) =>
  `POST /alpha/v1/rpc/public HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: application/json\r\n${more}\r\n`

/** A connection, everything that came over it, and its end. */
function open() {
  const socket = connect(gateway.port, '127.0.0.1')
  const seen = { text: '', isClosed: false }
  socket.on('data', bytes => (seen.text += bytes.toString('latin1')))
  socket.on('error', () => undefined)
  socket.on('close', () => (seen.isClosed = true))
  return { socket, seen }
}

t.test('a body in chunks of a byte is refused before it costs memory', async t => {
  const before = memoryIsVisible ? await resident(gateway.pid) : 0
  const { socket, seen } = open()
  socket.write(head('Transfer-Encoding: chunked\r\n'))
  const dust = '1\r\n \r\n'.repeat(10_000)
  for (let i = 0; i < 20 && !seen.isClosed; i++)
    if (!socket.write(dust)) await Promise.race([once(socket, 'drain'), once(socket, 'close')])
  await until('it is refused', () => Promise.resolve(seen.text.includes('\r\n\r\n{')))
  t.match(seen.text, /^HTTP\/1\.1 503 /)
  t.match(seen.text, /"reason":"overloaded"/)
  await until('the connection ends', () => Promise.resolve(seen.isClosed))
  if (memoryIsVisible) {
    const more = ((await resident(gateway.pid)) - before) / 2 ** 20
    t.ok(more < 50, `${more} MiB more`)
  }
})

t.test('a body in a thousand small chunks is served', async t => {
  const { socket, seen } = open()
  const body = message('eth_chainId').padEnd(1_000)
  socket.write(head('Transfer-Encoding: chunked\r\nConnection: close\r\n'))
  for (const c of body) socket.write(`1\r\n${c}\r\n`)
  socket.write('0\r\n\r\n')
  await until('it is answered', () => Promise.resolve(seen.isClosed))
  t.match(seen.text, /^HTTP\/1\.1 200 .*"result":"0x3e9"/s)
})

t.test('offers of HTTP/2 without end on one connection end it, each answered until then', async t => {
  const { socket, seen } = open()
  const body = message('eth_chainId')
  const offer =
    head(
      `Connection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__\r\nContent-Length: ${body.length}\r\n`,
    ) + body
  socket.write(offer.repeat(200))
  await until('the connection ends', () => Promise.resolve(seen.isClosed))
  t.equal(seen.text.match(/HTTP\/1\.1 200 /g)?.length, 4)
  t.match(seen.text, /Connection: close/i)
  t.notMatch(gateway.printed, /MaxListenersExceededWarning/)
})
