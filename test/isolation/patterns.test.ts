import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { echo } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { snapshotOf } from '../support/snapshot.ts'
import { findMethod } from '../../src/snapshot/find-method.ts'

/** Seen: a row with `enabled: false` was served on the public route all the same, at the price of the pattern that covers it. */

const methods = `notification: { cost: 1 }
families:
  evm:
    eth_*: { cost: 1 }
    eth_getProof: { cost: 50, tier: paid, enabled: false }
    eth_getBlock*: { enabled: false }
    eth_getBlockNow: { cost: 2 }
    eth_getBlockByHash*: { cost: 3 }
    eth_subscribe: { enabled: false, subscribe: eth_unsubscribe }
`

t.test('a row that is switched off refuses its names, also where a pattern covers them', async t => {
  const node = (await startNode(t, { chainId: 1001 })).otherwise(echo)
  const gateway = await startGateway(t, {
    networks: {
      alpha: { chainId: 1001, public: true },
      beta: { chainId: 1001, methods: { eth_call: { enabled: false } } },
    },
    routes: [
      { id: 'alpha-a', network: 'alpha', http: node.url },
      { id: 'beta-a', network: 'beta', http: node.url },
    ],
    methods,
  })
  const post = async (method: string): Promise<any> =>
    JSON.parse((await gateway.send({ path: '/alpha/v1/rpc/public', body: message(method, ['0x1']) })).text)
  const served = ['eth_gasPrice', 'eth_call', 'eth_getBlockNow', 'eth_getBlockByHash', 'eth_getBlockByHashX']
  for (const method of served) t.same((await post(method)).result, ['0x1'], method)
  const before = node.calls.length
  const off = ['eth_getProof', 'eth_getBlockReceipts', 'eth_getBlock', 'eth_subscribe', 'eth_unsubscribe']
  for (const method of off) t.equal((await post(method)).error?.data?.reason, 'method_not_found', method)
  const access = await createAccess(gateway, 'paid', 'beta')
  t.equal(
    (await access.call('eth_call', ['0x1'])).error?.data?.reason,
    'method_not_found',
    'a network’s own row',
  )
  t.equal(node.calls.length, before, 'nothing of it reached the node')
})

/** Seen: a pattern's row was joined with all routes at every call. */

const routes = `
routes:
  - { id: all, network: eth, http: "http://127.0.0.1:1" }
  - { id: picky, network: eth, http: "http://127.0.0.1:1", methods: { deny: [x_get, x_trace*] } }
`

t.test('a pattern is joined with the routes once, however many names clients think of', async t => {
  const open = await snapshotOf(t, { routes, methods: 'families: { evm: { "x_*": {} } }' })
  const network = open.networks['eth']!
  const rows = new Set(Array.from({ length: 20_000 }, (_, i) => findMethod(network, `x_name${i}`)))
  t.equal(rows.size, 1)
  t.same([...rows][0]?.routes, ['all', 'picky'])
  t.same(findMethod(network, 'x_get')?.routes, ['all'])
  t.same(findMethod(network, 'x_traceThis')?.routes, ['all'])
  t.equal(findMethod(network, 'x_traceThis'), findMethod(network, 'x_traceThat'))
  t.same(findMethod(network, 'x_getThis')?.routes, ['all', 'picky'])
})
