import t, { type Test } from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run, runJson } from '../support/cli.ts'
import { allCapabilities } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { error, html, result } from '../support/node-replies.ts'
import { observe, Watch } from '../support/observe.ts'
import { startNode } from '../support/scripted-node.ts'
import { randomTransaction } from '../support/solana-transactions.ts'

const node = await startNode(t, { chainId: 1001 })
const solana = await startNode(t)
const gateway = await startGateway(t, {
  networks: {
    alpha: { chainId: 1001, public: true, methods: { test_free: { cost: 0 }, test_sick: { cost: 3 } } },
    sol: { family: 'solana', chainId: 'solana-test' },
  },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, capabilities: allCapabilities },
    { id: 'sol-a', network: 'sol', http: solana.url },
  ],
})
node.on('test_sick', html)
const create = () => createAccess(gateway, 'paid', 'alpha')

/** What one call of each method costs, as the specification of the service says. */
const costs: [cost: number, method: string, params: unknown[]][] = [
  [1, 'eth_call', [{ to: `0x${'ab'.repeat(20)}` }]],
  [1, 'eth_feeHistory', ['0x1', 'latest']],
  [1, 'eth_getTransactionCount', [`0x${'ab'.repeat(20)}`]],
  [1, 'eth_getTransactionByBlockNumberAndIndex', ['latest', '0x0']],
  [1, 'eth_getTransactionByBlockHashAndIndex', [`0x${'ab'.repeat(32)}`, '0x0']],
  [3, 'eth_getBlockReceipts', ['latest']],
  [5, 'trace_transaction', [`0x${'ab'.repeat(32)}`]],
  [5, 'trace_filter', [{ fromBlock: 'latest', toBlock: 'latest' }]],
  [5, 'debug_traceCall', [{}, 'latest', { tracer: 'callTracer' }]],
  [20, 'debug_traceBlockByNumber', ['latest', { tracer: 'callTracer' }]],
]

/** The same for methods of Solana, where that is ours to say. */
const solanaCosts: typeof costs = [
  [1, 'getBalance', ['x']],
  [1, 'getTransaction', ['sig']],
  [1, 'sendTransaction', [randomTransaction().base58]],
  [3, 'getBlock', [5]],
  [5, 'getProgramAccounts', ['x']],
  [5, 'getTokenLargestAccounts', ['x']],
  [5, 'getSupply', []],
]

/** What a node says of a call: each is an answer. */
const reverted = error('{"code":-32000,"message":"execution reverted"}')
const preflight = error('{"code":-32002,"message":"Transaction simulation failed"}')
for (const [slug, asked, rows, failed] of [
  ['alpha', node, costs, reverted],
  ['sol', solana, solanaCosts, preflight],
] as const) {
  const watch = new Watch(() => createAccess(gateway, 'paid', slug))
  for (const [cost, method, params] of rows) {
    t.test(`${method} costs ${cost}, whether the node gives a result or an error`, async t => {
      for (const handler of [result('[]'), failed]) {
        asked.on(method, handler)
        const seen = await watch.observe(asked, access => access.post(message(method, params)))
        t.equal(seen.value.status, 200)
        t.equal(seen.sent.length, 1)
        t.equal(seen.requests, cost)
        t.equal(seen.calls, 1)
      }
      asked.on(method, result('[]'))
    })
  }
}

t.test('a method that costs nothing is forwarded and charges nothing', async t => {
  const access = await create()
  const seen = await observe(access, node, () => access.post(message('test_free')))
  t.equal(seen.value.status, 200)
  t.equal(seen.sent.length, 1)
  t.equal(seen.requests, 0)
})

/** Sends one of each in a batch. */
async function oneOfEach(t: Test, access: Access): Promise<void> {
  const reply = await access.post(
    `[${costs.map(([, method, params], i) => message(method, params, i)).join()}]`,
  )
  t.strictSame(
    JSON.parse(reply.text),
    costs.map((_, id) => ({ jsonrpc: '2.0', id, result: [] })),
  )
}
const total = costs.reduce((sum, [cost]) => sum + cost, 0)

t.test('a batch costs what its calls cost', async t => {
  const access = await create()
  const seen = await observe(access, node, () => oneOfEach(t, access))
  t.equal(seen.sent.length, costs.length)
  t.equal(seen.requests, total)
  t.equal(seen.calls, costs.length)
})

t.test('in a batch only what is answered is charged', async t => {
  const access = await create()
  const items = [
    message('eth_getBlockReceipts', ['latest'], 1),
    message('nope', [], 2),
    message('test_sick', [], 3),
    message('eth_getBlockReceipts', [], 4),
    '{"jsonrpc":"2.0","method":"eth_getBlockReceipts","params":["latest"]}',
    '{"jsonrpc":"2.0","method":"test_sick","params":[]}',
    message('eth_accounts', [], 5),
  ]
  const seen = await observe(access, node, () => access.post(`[${items.join()}]`))
  t.match(JSON.parse(seen.value.text), [
    { id: 1, result: [] },
    { id: 2, error: { data: { reason: 'method_not_found' } } },
    { id: 3, error: { data: { reason: 'upstream_error' } } },
    { id: 4, error: { data: { reason: 'invalid_params' } } },
    { id: 5, result: [] },
  ])
  t.equal(seen.requests, 3 + 3 + 1)
  t.equal(seen.calls, 3)
})

t.test("the node's own unknown method is its answer, and charged", async t => {
  const access = await create()
  node.on(
    'eth_getBlockReceipts',
    error('{"code":-32601,"message":"the method does not exist/is not available"}'),
  )
  const seen = await observe(access, node, () => access.post(message('eth_getBlockReceipts', ['latest'])))
  t.equal(
    seen.value.text,
    '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"the method does not exist/is not available"}}',
  )
  t.equal(seen.requests, 3)
  t.equal(seen.calls, 1)
  node.on('eth_getBlockReceipts', result('[]'))
})

t.test('what a node failed to answer is given back, every time', async t => {
  const access = await create()
  const seen = await observe(access, node, async () => {
    for (let i = 0; i < 5; i++) t.equal((await access.post(message('test_sick'))).status, 502)
    const all = await Promise.all(Array.from({ length: 10 }, () => access.post(message('test_sick'))))
    t.strictSame(new Set(all.map(({ status }) => status)), new Set([502]))
  })
  t.equal(seen.sent.length, 15)
  t.equal(seen.requests, 0)
  t.equal(seen.calls, 0)
})

t.test('many at once are counted one by one', async t => {
  const access = await create()
  const other = await access.another('alpha')
  const seen = await observe(access, node, () =>
    Promise.all(
      Array.from({ length: 300 }, (_, i) => (i % 3 === 0 ? other : access).call('web3_sha3', [`0x${i}`])),
    ),
  )
  t.equal(seen.sent.length, 300)
  t.equal(seen.requests, 200)
  t.equal(seen.calls, 200)
  t.same(await other.usage(), { requests: 100, calls: 100 })
})

t.test('the public route is counted, not billed to anybody', async t => {
  const access = await create()
  const seen = await observe(access, node, () =>
    gateway.send({ path: '/alpha/v1/rpc/public', body: message('web3_sha3', ['0x00']) }),
  )
  t.equal(seen.value.status, 200)
  t.equal(seen.requests, 0)
})

t.test('every place that tells usage tells the same', async t => {
  const access = await create()
  await oneOfEach(t, access)
  await access.call('nope')
  const usage = await access.usage()
  t.same(usage, { requests: total, calls: costs.length })
  const sum = (rows: any[], name: string) => rows.reduce((all: number, row) => all + Number(row[name]), 0)

  const { rows } = await access.managed('service_usage', [{ by: 'hour' }])
  t.equal(sum(rows, 'requests'), usage.requests)
  t.equal(sum(rows, 'calls'), usage.calls)
  for (const [cost, method] of costs)
    t.equal(
      sum(
        rows.filter((row: any) => row.method === method),
        'requests',
      ),
      cost,
      method,
    )

  const own = ['--account', access.accountId]
  const [listed, { stdout: csv }, listing, everybody] = await Promise.all([
    runJson(gateway.dir, ['usage', ...own]),
    run(['usage', ...own, '--csv', '--config', gateway.dir]),
    runJson(gateway.dir, ['endpoint', 'list', ...own]),
    runJson(gateway.dir, ['usage']),
  ])
  t.equal(sum(listed, 'requests'), usage.requests)
  t.equal(sum(listed, 'calls'), usage.calls)
  const [head, ...lines] = csv.trim().split('\n')
  const column = head!.split(',').indexOf('requests')
  t.equal(
    lines.reduce((all, line) => all + Number(line.split(',')[column]), 0),
    usage.requests,
  )
  t.equal(listing.endpoints[0].requestCount, usage.requests)

  const metrics = (await get(`${gateway.adminUrl}/metrics`)).text
  const billed = [...metrics.matchAll(/^tollgate_requests_total\{([^}]*)\} (\d+)$/gm)]
    .filter(([, labels]) => !labels!.includes('plan="public"'))
    .reduce((all, [, , value]) => all + Number(value), 0)
  t.equal(sum(everybody, 'requests'), billed, 'and Prometheus counts the same units')
})

t.test('usage outlives the process', async t => {
  const access = await create()
  await oneOfEach(t, access)
  const before = await access.usage()
  for (let life = 1; life <= 2; life++) {
    t.same(await gateway.stop(), { code: 0, signal: null })
    await gateway.start()
    t.same(await access.usage(), before)
  }
  const seen = await observe(access, node, () => oneOfEach(t, access))
  t.equal(seen.requests, total)
  t.equal((await access.usage()).requests, 2 * total)
})

t.test('usage is the same whether the process runs or not', async t => {
  const access = await create()
  await oneOfEach(t, access)
  const usage = () => runJson(gateway.dir, ['usage', '--account', access.accountId])
  const sum = (rows: { requests: number }[]) => rows.reduce((all, row) => all + row.requests, 0)
  const running: { requests: number }[] = await usage()
  await gateway.stop()
  t.equal(sum(running), total)
  t.equal(sum(await usage()), total)
})
