/** Event streams of a gateway with several workers that are replaced. */
import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { openStream } from '../support/event-stream.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { startHttpNode } from '../support/scripted-http-node.ts'
import { until } from '../support/until.ts'
import { crewOf, restart } from '../support/workers.ts'

const WORKERS = 2
const node = await startHttpNode(t)
const gate = new Gate()
node.on('/eth/v1/events', (_, response) => {
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': hello\n\n')
})
node.on('/eth/v1/late', async (_, response) => {
  await gate.pass()
  response.writeHead(200, { 'content-type': 'text/event-stream' })
  response.write(': hello\n\n')
})
const gateway = await startGateway(t, {
  methods: 'families: { http: { "GET /eth/v1/*": {} } }',
  networks: { beacon: { family: 'http', chainId: 'mainnet' } },
  routes: [{ id: 'beacon-a', network: 'beacon', http: node.url }],
  gateway: { workers: { count: WORKERS, balance: 'roundRobin' }, timeouts: { drainIdle: '500ms' } },
})

t.test(
  'bug: a stream that began on a worker which leaves was refused; a page takes that for good',
  async t => {
    await crewOf(gateway, WORKERS)
    const access = await createAccess(gateway, 'paid', 'beacon')
    // Each worker has every second connection.
    const open = await Promise.all([1, 2, 3, 4].map(async () => openStream(t, access, '/eth/v1/events')))
    for (const stream of open) await stream.has('hello')
    const late = [1, 2, 3, 4].map(async () => openStream(t, access, '/eth/v1/late'))
    await node.arrived('/eth/v1/late', late.length)
    t.equal((await restart(gateway)).status, 202)
    await Promise.race(open.map(async stream => stream.ended))
    gate.open()
    const begun = await Promise.all(late)
    t.strictSame(
      begun.map(({ status }) => status),
      [200, 200, 200, 200],
    )
    t.strictSame(
      await Promise.all([...open, ...begun].map(async stream => stream.endsWithin(30_000))),
      Array.from({ length: 8 }, () => 'end'),
    )
    await until('all are replaced', async () => (await gateway.status()).restarting === null)
    t.strictSame(await access.usage(), { requests: 8, calls: 8 })
  },
)
