import { once } from 'node:events'
import type { Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway, startGateway, type Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { askUpgrade } from '../support/socket-client.ts'
import { openSocket } from '../support/tcp.ts'
import { certificates, openTls, tlsYaml, writeCertificate } from '../support/tls.ts'
import { until, within } from '../support/until.ts'

const chainId = 1001
const node = await startSocketNode(t, { chainId })
const config = (timeouts: Readonly<Record<string, string>>, tls = false) => ({
  networks: { alpha: { chainId } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewMethods,
  gateway: {
    timeouts,
    ...(tls ? { tls: tlsYaml } : {}),
  },
})

/** SIGTERM, and heard. */
async function stopping(gateway: Gateway): Promise<void> {
  gateway.signal('SIGTERM')
  await until('it is not ready', async () => (await get(`${gateway.adminUrl}/readyz`)).status === 503)
}

/** Whether a connection is taken. */
async function isTaken(port: number): Promise<boolean> {
  return openSocket(port).then(
    socket => {
      socket.destroy()
      return true
    },
    () => false,
  )
}

/** One call on a connection that is open: the status and what the reply says of the connection; null when the connection ended. */
async function ask(socket: Socket, { path }: Access): Promise<[string, string] | null> {
  if (socket.destroyed) return null
  const body = message('eth_chainId')
  const replied = new Promise<[string, string] | null>(resolve => {
    let text = ''
    socket.on('data', (chunk: Buffer) => {
      text += chunk.toString('latin1')
      const [, status = '', said = ''] =
        /^HTTP\/1.1 (\d+).*?^connection: ([a-z-]+).*"0x3e9"}$/ims.exec(text) ?? []
      if (said !== '') resolve([status, said])
    })
    socket.once('close', () => {
      resolve(null)
    })
  })
  socket.write(
    `POST ${path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
  )
  const reply = await replied
  socket.removeAllListeners('data')
  return reply
}

for (const tls of [false, true])
  t.test(`a stop, ${tls ? 'https' : 'http'}: calls on idle and unused connections are answered`, async t => {
    const gateway = await prepareGateway(t, config({ drainIdle: '20s' }, tls))
    if (tls) await writeCertificate(gateway.dir, certificates.first)
    await gateway.start()
    const access = await createAccess(gateway, 'paid', 'alpha')
    const open = (port: number): Promise<Socket> =>
      tls ? openTls(port, certificates.first) : openSocket(port)
    const [used, unused, half] = [
      await open(gateway.port),
      await open(gateway.port),
      await open(gateway.port),
    ]
    t.same(await ask(used, access), ['200', 'keep-alive'])
    half.write(`POST ${access.path} HTTP/1.1\r\n`)
    await stopping(gateway)
    t.same(await ask(used, access), ['200', 'close'], 'one that was used')
    t.same(await ask(unused, access), ['200', 'close'], 'one on which nothing was asked')
    // Behind the part of a head that was sent before.
    const body = message('eth_chainId')
    half.write(`Host: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`)
    const [reply] = (await within('the reply', once(half, 'data'))) as [Buffer]
    t.match(reply.toString(), /^HTTP\/1.1 200 .*connection: close/is, 'one whose request had begun')
    half.resume()
    t.same(await gateway.exited, { code: 0, signal: null }, 'with the last of them it is over')
  })

t.test(
  'connections that stay idle are ended one after the other, and others are still answered meanwhile',
  async t => {
    const gateway = await startGateway(t, config({ drainIdle: '500ms' }))
    const access = await createAccess(gateway, 'paid', 'alpha')
    const sockets: Socket[] = []
    for (let i = 0; i < 60; i++) {
      const socket = await openSocket(gateway.port)
      if (i % 2 === 0) t.same(await ask(socket, access), ['200', 'keep-alive'])
      sockets.push(socket.resume())
    }
    const ended: number[] = []
    for (const [i, socket] of sockets.entries()) socket.once('close', () => ended.push(i))
    await stopping(gateway)
    await once(sockets[0]!, 'close')
    t.same(
      await ask(sockets[58]!, access),
      ['200', 'close'],
      'the last ones have still time when the first one ends',
    )
    t.same(await gateway.exited, { code: 0, signal: null })
    t.equal(ended.length, 60)
  },
)

t.test(
  'a connection that comes while a balancer has not heard yet is served; one that comes later is refused',
  async t => {
    const gateway = await startGateway(t, config({ drainIdle: '20s' }))
    const access = await createAccess(gateway, 'paid', 'alpha')
    const idle = await openSocket(gateway.port)
    await stopping(gateway)
    t.match(await access.post(message('eth_chainId')), { status: 200, headers: { connection: 'close' } })
    t.equal((await askUpgrade(gateway.port, access.path)).status, 503, 'no WebSocket is opened any more')
    // Asked seldom: whoever connects keeps the listener open.
    while (await isTaken(gateway.port)) await pause(500)
    t.same(await ask(idle, access), ['200', 'close'], 'an idle one is still there')
    t.same(await gateway.exited, { code: 0, signal: null })
  },
)

t.test('drainIdle ends with drain', async t => {
  const gateway = await startGateway(t, config({ drain: '300ms', drainIdle: '1h' }))
  const idle = await openSocket(gateway.port)
  const ended = once(idle.resume(), 'close')
  gateway.signal('SIGTERM')
  await ended
  t.same(await gateway.exited, { code: 0, signal: null })
})
