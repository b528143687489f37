/** What bounds and prices eth_getLogs holds for the other methods that read logs. */
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { refused } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001, head: 1000 })
node.on('eth_newFilter', result('"0x7"')).on('eth_getFilterLogs', result('[]'))
const bounded = { eth_getLogs: { maxRange: 100, cost: 5, tier: 'paid' } }
const gateway = await startGateway(t, {
  networks: {
    alpha: { chainId: 1001, dialect: 'arbitrum', methods: { ...bounded, trace_filter: { maxRange: 100 } } },
    open: { chainId: 1001, methods: { 'eth_*': {}, eth_getFilterLogs: { cost: 2 }, ...bounded } },
  },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, capabilities: ['archive', 'trace', 'erigon'] },
    { id: 'open-a', network: 'open', http: node.url },
  ],
})
await gateway.headKnown('alpha')
const quantity = (number: number): string => `0x${number.toString(16)}`
const range = (from: number | string, to: number | string) => [
  {
    fromBlock: typeof from === 'number' ? quantity(from) : from,
    toBlock: typeof to === 'number' ? quantity(to) : to,
  },
]

t.test('maxRange bounds every method that takes a range of logs or traces', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const wide = [range(1, 101), range('earliest', 'latest'), range(1, 'latest'), range('finalized', 'latest')]
  const options = [{ logCount: 1 }]
  const methods = ['eth_getLogs', 'eth_newFilter', 'erigon_getLogs', 'trace_filter', 'arbtrace_filter']
  const sent = node.calls.length
  for (const method of [...methods, 'erigon_getLatestLogs'])
    for (const filter of wide) {
      const params = method === 'erigon_getLatestLogs' ? [...filter, ...options] : filter
      const reply = await access.post(message(method, params))
      refused(t, reply, { reason: 'invalid_params', id: '1', data: { maxRange: 100 } })
    }
  t.equal(node.calls.length, sent, 'nothing reached the node')
  t.strictSame(await access.usage(), { requests: 0, calls: 0 })
  for (const method of methods)
    for (const filter of [
      range(1, 100),
      range(901, 'latest'),
      range('finalized', 'finalized'),
      range('latest', 'latest'),
    ])
      t.match(await access.call(method, filter), { result: /./ }, method)
})

t.test('the logs of a filter cost what eth_getLogs costs, and are bounded when they are read', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const [moving, fixed] = [
    (await access.call('eth_newFilter', range(901, 'latest'))).result,
    (await access.call('eth_newFilter', range(850, 900))).result,
  ]
  const made = await access.usage()
  const read = async (id: string): Promise<any> => access.call('eth_getFilterLogs', [id])
  for (const id of [moving, fixed]) t.strictSame((await read(id)).result, [])
  t.equal((await access.usage()).requests - made.requests, 10)
  node.head = 1001
  await until('the range is too wide', async () => (await read(moving)).error !== undefined)
  const before = [await access.usage(), node.count('eth_getFilterLogs')]
  const reply = await access.post(message('eth_getFilterLogs', [moving]))
  refused(t, reply, { reason: 'invalid_params', id: '1', data: { maxRange: 100 } })
  t.strictSame([await access.usage(), node.count('eth_getFilterLogs')], before, 'nobody paid for that')
  t.strictSame((await read(fixed)).result, [], 'a range that does not grow')
  t.match(await access.call('eth_getFilterChanges', [moving]), { result: 'ok' }, 'and what is new')
})

t.test('the tier of eth_getLogs is that of filters over logs', async t => {
  const free = await createAccess(gateway, 'free', 'alpha')
  for (const method of ['eth_getLogs', 'eth_newFilter', 'eth_getFilterLogs'])
    refused(t, await free.post(message(method, range(1, 2))), { reason: 'plan_required', id: '1' })
  t.match(await free.call('eth_newBlockFilter'), { result: /^0x/ })
})

t.test('under a pattern too; a row of its own says otherwise', async t => {
  const access = await createAccess(gateway, 'paid', 'open')
  const wide = message('eth_newFilter', range(1, 101))
  refused(t, await access.post(wide), { reason: 'invalid_params', id: '1', data: { maxRange: 100 } })
  const { result: id } = await access.call('eth_newFilter', range(1, 100))
  const before = await access.usage()
  await access.call('eth_getFilterLogs', [id])
  t.equal((await access.usage()).requests - before.requests, 2)
})
