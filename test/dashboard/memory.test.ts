/** What the dashboard holds for browsers, signed in or not, is counted in `limits.memory`. */
import { once } from 'node:events'
import type { Socket } from 'node:net'
import t from 'tap'
import { withAccounts } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { openSocket } from '../support/tcp.ts'
import { until } from '../support/until.ts'
import { createOwner } from './support/owner.ts'
import { reasonOf, Visitor } from './support/visitor.ts'

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  gateway: { dashboardHost: '127.0.0.1', limits: { memory: '1MiB', body: '64KiB' } },
})
const owner = await createOwner(gateway, 'alpha')
const visitor = new Visitor(gateway)
await visitor.signIn(owner.token)
await withAccounts(gateway, async store => {
  for (let i = 0; i < 98; i++)
    await store.endpoints.create({ accountId: owner.accountId, network: 'alpha', name: `endpoint ${i}` })
})

/** Sends 62 000 bytes of a body that does not end; they count five times. */
async function park(): Promise<{ readonly socket: Socket; readonly said: () => string }> {
  const socket = await openSocket(gateway.port)
  let text = ''
  socket.on('data', (chunk: Buffer) => (text += chunk.toString()))
  const headers = 'Content-Type: application/json\r\nSec-Fetch-Site: same-origin\r\nContent-Length: 64000'
  socket.write(`POST /api/session HTTP/1.1\r\nHost: 127.0.0.1\r\n${headers}\r\n\r\n${' '.repeat(62_000)}`)
  return { socket, said: () => text }
}

t.test('bodies of who has not signed in, and long replies of who has', async t => {
  const parked = [await park(), await park(), await park(), await park()]
  const refused = () => parked.filter(({ said }) => said().includes('"overloaded"'))
  await until('one of the four has no room', () => Promise.resolve(refused().length === 1))
  const denied = await visitor.ask('service_listEndpoints')
  t.equal(denied.status, 503)
  t.equal(reasonOf(denied), 'overloaded')
  t.equal((await visitor.ask('service_account')).status, 200, 'short replies pass beside them')
  for (const { socket } of parked) {
    socket.destroy()
    await once(socket, 'close')
  }
  await until(
    'what they held is given back',
    async () => (await visitor.ask('service_listEndpoints')).status === 200,
  )
  const later = await Promise.all(Array.from({ length: 12 }, () => visitor.ask('service_listEndpoints')))
  t.ok(
    later.some(({ status }) => status === 200),
    'what replies held is given back',
  )
  t.equal((await visitor.ask('service_listEndpoints')).status, 200)
})
