import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { get, send } from '../support/http.ts'
import { hang, held, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'
import { crewOf, isAlive } from '../support/workers.ts'

const options = (url: string, balance: 'accept' | 'roundRobin') => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: url }],
  methods: fewMethods,
  gateway: { workers: { count: 2, balance }, timeouts: { drain: '20s', drainIdle: '200ms' } },
})

for (const balance of ['accept', 'roundRobin'] as const)
  t.test(
    `bug: with calls in flight, connections behind the end of several workers hung (${balance})`,
    async t => {
      const gate = new Gate()
      const node = (await startNode(t, { chainId: 1001 })).on('web3_sha3', held(gate, result('"0x1"')))
      const gateway = await startGateway(t, options(node.url, balance))
      const access = await createAccess(gateway, 'paid', 'alpha')
      const call = access.post(message('web3_sha3', ['0x00']))
      await node.arrived('web3_sha3', 1)
      gateway.signal('SIGTERM')
      await until('new connections are refused', () =>
        openSocket(gateway.port).then(
          socket => {
            socket.destroy()
            return undefined
          },
          (error: unknown) => (error as NodeJS.ErrnoException).code === 'ECONNREFUSED',
        ),
      )
      const admin = Number(new URL(gateway.adminUrl).port)
      for (const path of ['/reload', '/restart']) {
        const { status, text } = await send(admin, { path, method: 'POST' })
        t.strictSame([status, text], [503, '{"error":"the gateway is draining"}\n'], `bug: ${path} was taken`)
      }
      t.equal((await get(`${gateway.adminUrl}/readyz`)).status, 503)
      gate.open()
      t.match(await call, { status: 200 })
      t.strictSame(await gateway.exited, { code: 0, signal: null })
    },
  )

t.test('bug: a second signal ended the primary alone, and the others went on with their calls', async t => {
  const node = (await startNode(t, { chainId: 1001 })).on('web3_sha3', hang)
  const gateway = await startGateway(t, options(node.url, 'accept'))
  const access = await createAccess(gateway, 'paid', 'alpha')
  const { keeper, workers } = await crewOf(gateway, 2)
  const stuck = t.rejects(access.post(message('web3_sha3', ['0x00'])))
  await node.arrived('web3_sha3', 1)
  gateway.signal('SIGTERM')
  await until('it drains', () => Promise.resolve(gateway.printed.includes('"draining"')))
  gateway.signal('SIGTERM')
  t.strictSame(await gateway.exited, { code: null, signal: 'SIGTERM' })
  await until('all have ended', () => Promise.resolve(![keeper, ...workers].some(isAlive)))
  await stuck
})
