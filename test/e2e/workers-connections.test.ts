import { once } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket } from '../support/tcp.ts'
import { until, within } from '../support/until.ts'
import { childrenOf, crewOf, isAlive, kill9, restart } from '../support/workers.ts'

const node = await startNode(t, { chainId: 1001 })

t.test('connections of clients outlive all processes that serve them', async t => {
  const gateway = await startGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
    gateway: { workers: 2, timeouts: { drain: '10s', drainIdle: '10s' } },
  })
  const access = await createAccess(gateway, 'paid', 'alpha')
  const body = message('eth_chainId')
  const ask = async (socket: Socket): Promise<string> => {
    if (socket.destroyed) return 'closed'
    socket.write(
      `POST ${access.path} HTTP/1.1\r\nHost: x\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
    )
    const over = once(socket, 'close').then(() => 'closed')
    const reply = once(socket, 'data').then(([bytes]) => String(bytes))
    const text = await within('a reply', Promise.race([reply, over]))
    return /^HTTP\/1.1 200 .*^connection: keep-alive.*"0x3e9"}$/ims.test(text) ? 'answered' : text
  }
  const sockets = await Promise.all(Array.from({ length: 12 }, () => openSocket(gateway.port)))
  const askAll = async (): Promise<readonly string[]> => Promise.all(sockets.map(ask))
  const all = sockets.map(() => 'answered')
  t.strictSame(await askAll(), all)
  const before = await crewOf(gateway, 2)
  gateway.signal('SIGUSR2')
  await until(
    'all processes are others',
    () => Promise.resolve(![before.keeper, ...before.workers].some(isAlive)),
    60_000,
  )
  t.strictSame(await askAll(), all, 'after a restart')
  await until('it is over', async () => (await gateway.status().catch(() => null))?.restarting === null)
  t.equal((await restart(gateway, { primary: true })).status, 202)
  t.strictSame(await gateway.exited, { code: 0, signal: null })
  const pid = await until('the next one answers', async () => {
    const reply = await get(`${gateway.adminUrl}/process`).catch(() => null)
    return reply === null ? undefined : (JSON.parse(reply.text) as { pid: number }).pid
  })
  t.teardown(() => {
    kill9(pid)
  })
  t.strictSame(await askAll(), all, 'after another primary has taken over')
  t.equal((await access.usage()).calls, 36, 'each was charged once')
  for (const socket of sockets) socket.destroy()
  const crew = childrenOf(pid)
  process.kill(pid, 'SIGTERM')
  await until('it ends with its processes', () => Promise.resolve(![pid, ...crew].some(isAlive)), 30_000)
})
