import t from 'tap'
import { createAccess } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import { metric } from '../support/metrics.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import { crewOf, kill9 } from '../support/workers.ts'

const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') }],
  methods: fewMethods,
  gateway: { workers: { count: 4, balance: 'roundRobin' }, timeouts: { drain: '5s', drainIdle: '500ms' } },
})
const access = await createAccess(gateway, 'paid', 'alpha')

t.test('each worker takes its turn: of sixteen sockets a worker that is killed has four', async t => {
  const { workers } = await crewOf(gateway, 4)
  const sockets = await Promise.all(Array.from({ length: 16 }, () => openClient(t, access)))
  const ask = async (socket: (typeof sockets)[0]) => String((await socket.call('eth_gasPrice')).result)
  t.strictSame(new Set(await Promise.all(sockets.map(ask))), new Set(['0x1']))
  t.equal(await metric(gateway, 'tollgate_ws_connections'), 16, 'the metrics are those of all workers')
  kill9(workers[0]!)
  await crewOf(gateway, 4)
  const left = sockets.filter(({ over }) => over === undefined)
  t.equal(left.length, 12)
  t.strictSame(new Set(await Promise.all(left.map(ask))), new Set(['0x1']))
  t.equal((await access.call('eth_gasPrice')).result, '0x1')
})

t.test('a restart and a stop finish what is open, as with any other balance', async t => {
  const socket = await openClient(t, access)
  gateway.signal('SIGUSR2')
  t.match(await socket.closed, { code: 1001 })
  await crewOf(gateway, 4)
  t.equal((await access.call('eth_gasPrice')).result, '0x1')
  const last = await openClient(t, access)
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  t.match(await last.closed, { code: 1001 })
})
