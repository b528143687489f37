/** Kept answers, as clients and operators see them. */
import t from 'tap'
import { message } from '../support/access.ts'
import type { Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { answerBlocks, asked, blockText } from '../support/final-node.ts'
import { startGateway } from '../support/gateway.ts'
import { metric, metricIs } from '../support/metrics.ts'
import { echo, error, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import { until } from '../support/until.ts'

const chainId = 1001
const head = 0x1000
const final = 0xf00
const node = await startNode(t, { chainId, head })
answerBlocks(node, { final })
const cluster = await startNode(t, { head })
const gateway = await startGateway(t, {
  networks: {
    alpha: { chainId },
    tip: { chainId, cache: { tip: '1h' } },
    off: { chainId, cache: false },
    sol: { chainId: 'sol', family: 'solana', genesisHash: '1'.repeat(32) },
  },
  routes: [
    {
      id: 'alpha-a',
      network: 'alpha',
      http: node.url,
      ws: node.url.replace('http', 'ws'),
      capabilities: ['archive', 'debug'],
    },
    { id: 'tip-a', network: 'tip', http: node.url, capabilities: ['archive'] },
    { id: 'off-a', network: 'off', http: node.url },
    { id: 'sol-a', network: 'sol', http: cluster.url, capabilities: ['archive'] },
  ],
  plans: { quota: { tiers: ['any'], quota: { requests: 2, every: '30d' } } },
  gateway: { cache: { memory: '4MiB', entry: '64KiB' } },
})
const access = await createAccess(gateway, 'paid', 'alpha')
for (const network of ['alpha', 'tip']) await metricIs(gateway, 'tollgate_network_final', { network }, final)
await metricIs(gateway, 'tollgate_network_final', { network: 'sol' }, head)

/** Posts to the admin listener. */
async function admin(path: string, body: unknown): Promise<{ readonly status: number; readonly json: any }> {
  const headers = { 'content-type': 'application/json' }
  const reply = await fetch(gateway.adminUrl + path, { method: 'POST', headers, body: JSON.stringify(body) })
  return { status: reply.status, json: await reply.json() }
}

/** Sends the same call twice, and says how often the node was asked and what came. */
async function twice(on: Access, method: string, params: string, at = node) {
  const body = `{"jsonrpc":"2.0","id":7,"method":"${method}","params":${params}}`
  const before = at.count(method)
  const replies = [await on.post(body), await on.post(body)]
  return {
    asked: at.count(method) - before,
    said: replies.map(({ headers }) => headers['x-tollgate-cache']),
    texts: replies.map(({ text }) => text),
  }
}

t.test('a final block is asked for once, and comes back byte for byte', async t => {
  const {
    asked: count,
    said,
    texts,
  } = await twice(access, 'eth_getBlockByNumber', `["0x${final.toString(16)}",false]`)
  t.strictSame([count, said], [1, ['miss', 'hit']])
  t.strictSame(texts, Array(2).fill(`{"jsonrpc":"2.0","id":7,"result":${blockText(final)}}`))
  const above = await twice(access, 'eth_getBlockByNumber', `["0x${(final + 1).toString(16)}",false]`)
  t.strictSame([above.asked, above.said], [2, ['miss', 'miss']], 'the block above it is not final')
})

t.test('white space makes no difference, and nothing else is left out', async t => {
  const [a, b] = [`0x${'a'.repeat(64)}`, `0x${'b'.repeat(64)}`]
  const range = '"fromBlock":"0x1","toBlock":"0x2"'
  const bodies = [
    `[{${range},"topics":["${a}","${b}"]}]`,
    `[{${range},"topics":[["${a}","${b}"]]}]`,
    `[{${range},"topics":["${a}",["${b}"]]}]`,
    `[{"toBlock":"0x2","fromBlock":"0x1","topics":["${a}","${b}"]}]`,
    `[{${range},"topics":["${a.toUpperCase().replace('X', 'x')}","${b}"]}]`,
  ]
  // The script says what it was asked for, under no block: only an empty list would be believed.
  node.on('eth_getLogs', (request, response) =>
    result(`[{"blockNumber":"0x2","asked":${request.params}}]`)(request, response),
  )
  for (const params of bodies) {
    const { texts, asked: count } = await twice(access, 'eth_getLogs', params)
    t.equal(count, 1)
    for (const text of texts) t.match(text, params, 'nobody gets the answer to another request')
  }
  const spaced = await access.post(
    message('eth_getLogs', JSON.parse(bodies[0]!)).replaceAll(',', ' ,\n\t').replaceAll(':', ' : '),
  )
  t.equal(spaced.headers['x-tollgate-cache'], 'hit')
  node.on('eth_call', echo)
  for (const flag of ['true', '"true"', '1', '1.0', '"1"']) {
    const params = `[{"to":"0x00","x":${flag}},"0x1"]`
    const { texts } = await twice(access, 'eth_call', params)
    t.match(texts[1], `"x":${flag}}`)
  }
})

t.test('what is kept, and what is not', async t => {
  const cases: readonly (readonly [method: string, params: string, raw: string, asked: number])[] = [
    ['eth_getLogs', '[{"fromBlock":"0x1","toBlock":"0x3"}]', '[]', 1],
    ['eth_getLogs', '[{"fromBlock":"0x1","toBlock":"0x1000"}]', '[]', 2],
    ['eth_getLogs', '[{"fromBlock":"0x1"}]', '[]', 2],
    ['eth_getLogs', `[{"blockHash":"0x${'c'.repeat(64)}"}]`, '[]', 2],
    ['eth_getLogs', `[{"blockHash":"0x${'d'.repeat(64)}"}]`, '[{"blockNumber":"0x10"}]', 1],
    ['eth_call', '[{},"earliest"]', '"0x"', 1],
    ['eth_call', '[{},"latest"]', '"0x1"', 2],
    ['eth_call', '[{}]', '"0x1"', 2],
    ['eth_call', '[{},"pending"]', '"0x1"', 2],
    ['eth_call', '[{},"finalized"]', '"0x1"', 2],
    ['eth_call', `[{},{"blockHash":"0x${'c'.repeat(64)}"}]`, '"0x1"', 2],
    ['eth_call', '[{},{"blockNumber":"0x5"}]', 'false', 1],
    ['eth_getBalance', '["0x00","0x5"]', '"0x0"', 1],
    ['eth_getTransactionByHash', '["0x01"]', 'null', 2],
    ['eth_getTransactionByHash', '["0x02"]', '{"blockNumber":null}', 2],
    ['eth_getTransactionByHash', '["0x03"]', '{"blockNumber":"0xf00"}', 1],
    ['eth_getTransactionByHash', '["0x04"]', '{"blockNumber":"0xf01"}', 2],
    ['eth_getBlockByHash', `["0x${'e'.repeat(64)}",false]`, '{"number":"0x20"}', 1],
    ['eth_estimateGas', '[{},"0x5"]', '"0x1"', 2],
    ['web3_sha3', '["0x00"]', '"0x1"', 1],
    ['web3_sha3', '["0x01"]', `"${'x'.repeat(70_000)}"`, 2],
    ['eth_gasPrice', '[]', '"0x1"', 2],
  ]
  for (const [method, params, raw, count] of cases) {
    node.on(method, result(raw))
    const { asked: asks, texts } = await twice(access, method, params)
    t.equal(asks, count, `${method} ${params} → ${raw.slice(0, 40)}`)
    t.equal(texts[0], texts[1])
  }
  node.on('eth_call', error('{"code":3,"message":"execution reverted"}'))
  t.equal((await twice(access, 'eth_call', '[{"data":"0x01"},"0x5"]')).asked, 2, "a node's error is not kept")
})

t.test('a receipt is kept from the moment when its block is final', async t => {
  const answers = ['null', '{"blockNumber":"0xf01"}', '{"blockNumber":"0xeff"}']
  for (const [i, raw] of answers.entries()) {
    node.on('eth_getTransactionReceipt', result(raw))
    const { asked: count, texts } = await twice(access, 'eth_getTransactionReceipt', '["0xaa"]')
    t.equal(count, i === 2 ? 1 : 2, raw)
    t.match(texts[1], raw)
  }
})

t.test('an answer that does not show the block that was asked for is not kept, and is counted', async t => {
  node.on('eth_getHeaderByNumber', result('{"hash":"0x06"}'))
  const before = await metric(gateway, 'tollgate_cache_mismatches_total', { route: 'alpha-a' })
  t.equal((await twice(access, 'eth_getHeaderByNumber', '["0x5"]')).asked, 2)
  node.on('eth_getLogs', result('[{"blockNumber":null}]'))
  t.equal((await twice(access, 'eth_getLogs', '[{"fromBlock":"0x5","toBlock":"0x8"}]')).asked, 2)
  t.equal((await metric(gateway, 'tollgate_cache_mismatches_total', { route: 'alpha-a' })) - before, 4)
})

t.test('answers about the newest block, while the head stays and only where the network says so', async t => {
  const tip = await createAccess(gateway, 'paid', 'tip')
  node.on('eth_gasPrice', result('"0x5"'))
  t.equal((await twice(tip, 'eth_gasPrice', '[]')).asked, 1)
  node.on('eth_call', result('"0x5"'))
  t.equal((await twice(tip, 'eth_call', '[{}]')).asked, 1)
  t.equal((await twice(tip, 'eth_call', '[{},"pending"]')).asked, 2)
  t.equal((await twice(tip, 'eth_call', '[{},"finalized"]')).asked, 1, 'while the final block stays')
  t.equal((await twice(tip, 'eth_call', '[{},"safe"]')).asked, 2, 'a block that nobody watches')
  t.equal((await twice(tip, 'eth_getBalance', '["0x00","latest"]')).asked, 2, 'its row does not say tip')
  node.head += 1
  // The reader is shown the new block, and so is the gateway.
  await tip.call('eth_blockNumber')
  await metricIs(gateway, 'tollgate_route_head', { route: 'tip-a' }, node.head)
  t.equal((await twice(tip, 'eth_call', '[{}]')).asked, 1, 'asked anew at the new head')
})

t.test('on Solana by slot and commitment, and in the case that base58 is written in', async t => {
  const sol = await createAccess(gateway, 'paid', 'sol')
  const cases: readonly (readonly [method: string, params: string, raw: string, asked: number])[] = [
    ['getBlock', '[5]', '{"blockhash":"a"}', 1],
    ['getBlock', '[5,{"commitment":"finalized"}]', '{"blockhash":"a"}', 1],
    ['getBlock', '[5,{"commitment":"confirmed"}]', '{"blockhash":"a"}', 2],
    ['getBlock', `[${head + 1}]`, '{"blockhash":"a"}', 2],
    ['getBlocks', '[5,9]', '[5,6]', 1],
    ['getBlocks', '[5]', '[5,6]', 2],
    ['getBlocks', `[5,${head + 1}]`, '[5,6]', 2],
    ['getBlockTime', '[5]', '1', 1],
    ['getTransaction', '["aB"]', '{"slot":5}', 1],
    ['getTransaction', '["ab"]', `{"slot":${head + 1}}`, 2],
    ['getAccountInfo', '["aB",{"commitment":"finalized"}]', '{"context":{"slot":5},"value":null}', 2],
    ['getEpochSchedule', '[]', '{}', 1],
  ]
  for (const [method, params, raw, count] of cases) {
    cluster.on(method, result(raw))
    t.equal((await twice(sol, method, params, cluster)).asked, count, `${method} ${params} → ${raw}`)
  }
})

t.test('a network may keep nothing, and nothing is asked of its nodes then', async t => {
  const off = await createAccess(gateway, 'paid', 'off')
  node.on('web3_sha3', result('"0x1"'))
  const { asked: count, said } = await twice(off, 'web3_sha3', '["0x00"]')
  t.strictSame([count, said], [2, [undefined, undefined]])
  t.equal(asked(node, 'eth_getBlockByNumber', '["finalized",false]'), 2, 'one question a network that keeps')
})

t.test('Cache-Control: no-cache asks anew and keeps it, no-store keeps nothing', async t => {
  const params = '["0xcc"]'
  const body = message('web3_sha3', JSON.parse(params))
  const ask = (said?: string) => access.post(body, { headers: { 'cache-control': said } })
  node.on('web3_sha3', result('"first"'))
  await ask('no-store')
  t.equal((await ask()).headers['x-tollgate-cache'], 'miss', 'no-store has left nothing')
  node.on('web3_sha3', result('"second"'))
  const anew = await ask('max-age=0, No-Cache')
  t.match(anew.text, '"second"')
  t.equal(anew.headers['x-tollgate-cache'], 'miss')
  t.match((await ask()).text, '"second"')
  const unseen = await ask('no-store')
  t.notOk('x-tollgate-cache' in unseen.headers)
  t.match(unseen.headers['access-control-expose-headers'], /X-Tollgate-Cache/)
})

t.test('over WebSocket, in a batch and as a notification', async t => {
  node.on('web3_sha3', result('"0x1"'))
  const before = node.count('web3_sha3')
  const socket = await openClient(t, access)
  for (let i = 0; i < 3; i += 1) t.match(await socket.call('web3_sha3', ['0xdd']), { result: '0x1' })
  const batch = await access.post(
    JSON.stringify(
      Array.from({ length: 100 }, (_, id) => ({ jsonrpc: '2.0', id, method: 'web3_sha3', params: ['0xdd'] })),
    ),
  )
  t.equal((JSON.parse(batch.text) as unknown[]).length, 100)
  t.notOk('x-tollgate-cache' in batch.headers)
  t.equal((await access.post('{"jsonrpc":"2.0","method":"web3_sha3","params":["0xdd"]}')).status, 204)
  t.equal(node.count('web3_sha3') - before, 1)
})

t.test('a kept answer passes every gate, and costs what another one does', async t => {
  const params = ['0xee']
  await access.call('web3_sha3', params)
  const poor = await createAccess(gateway, 'quota', 'alpha')
  for (const reason of [undefined, undefined, 'quota_exhausted'])
    t.equal((await poor.call('web3_sha3', params)).error?.data.reason, reason)
  t.match(await poor.usage(), { requests: 2, calls: 2 })
  const gone = await createAccess(gateway, 'free', 'alpha')
  await gone.call('web3_sha3', params)
  await withAccounts(gateway, store => store.accounts.change(gone.accountId, { status: 'suspended' }))
  await until('the account is known to be suspended', async () => {
    const { error: refusal } = await gone.call('web3_sha3', params)
    return refusal?.data.reason === 'account_suspended'
  })
  // Its plan has no tier for this method, whoever has asked the same.
  node.on('debug_traceCall', result('{}'))
  const dear = [{}, '0x1', {}]
  t.match(await access.call('debug_traceCall', dear), { result: {} })
  const free = await createAccess(gateway, 'free', 'alpha')
  t.match(await free.call('debug_traceCall', dear), { error: { data: { reason: 'plan_required' } } })
})

t.test('purges by what the operator says, in one answer', async t => {
  const purge = (body: unknown) => admin('/cache/purge', body)
  node.on('web3_sha3', result('"0x1"'))
  node.on('eth_getCode', result('"0x1"'))
  await access.call('web3_sha3', ['0xff'])
  await access.call('eth_getCode', ['0x00', '0x1'])
  t.match((await purge({ method: 'eth_getCode', network: 'alpha' })).json, { purged: 1 })
  t.equal((await twice(access, 'web3_sha3', '["0xff"]')).asked, 0, 'others stay')
  t.equal((await twice(access, 'eth_getCode', '["0x00","0x1"]')).asked, 1)
  const all = (await purge({ route: 'alpha-a' })).json
  t.ok(all.purged > 10)
  t.strictSame((await purge({ route: 'alpha-a' })).json, { purged: 0 })
  t.equal((await twice(access, 'web3_sha3', '["0xff"]')).asked, 1)
  for (const [body, status, why] of [
    [{ route: 'alpha-b' }, 404, 'there is no route "alpha-b"; did you mean "alpha-a"?'],
    [{ network: 'alpah' }, 404, 'there is no network "alpah"; did you mean "alpha"?'],
    [{ method: 'eth_cal' }, 404, 'there is no method "eth_cal"; did you mean "eth_call"?'],
    [{}, 400, 'say what to drop: network, route, method'],
    [{ routes: 'x' }, 400, 'unknown member "routes"; expected network, route, method'],
    [{ route: 1 }, 400, '"route" must be a string'],
    [[], 400, 'the body must be an object'],
  ] as const) {
    const reply = await purge(body)
    t.strictSame([reply.status, reply.json], [status, { error: why }])
  }
})

t.test('explain says what would be kept, and what is', async t => {
  const explain = async (method: string, params: unknown) =>
    (await admin('/explain', { network: 'alpha', method, plan: 'paid', params })).json as object
  node.on('eth_getBalance', result('"0x1"'))
  t.match(await explain('eth_getBalance', ['0x0a', '0xf00']), {
    outcome: 'forward',
    cache: { keptFrom: null, block: 0xf00, final, why: 'block 3840 is final (3840 ≤ 3840)' },
  })
  await access.call('eth_getBalance', ['0x0a', '0xf00'])
  t.match(await explain('eth_getBalance', ['0x0a', '0xf00']), {
    outcome: 'answer',
    cache: { keptFrom: 'alpha-a', why: 'kept, given by alpha-a: block 3840 is final (3840 ≤ 3840)' },
  })
  t.match(await explain('eth_getBalance', ['0x0a', '0xf01']), {
    cache: { why: 'block 3841 is not final yet (3841 > 3840), so its answer is not kept' },
  })
  t.match(await explain('eth_estimateGas', [{}]), { cache: { why: 'not kept: its rule does not say cache' } })
  t.notOk('cache' in (await explain('eth_chainId', [])))
})

t.test('what was kept goes on while every route is down', async t => {
  await access.call('eth_getBalance', ['0x0b', '0x5'])
  await node.close()
  t.match(await access.call('eth_getBalance', ['0x0b', '0x5']), { result: '0x1' })
  t.match(await access.call('eth_getBalance', ['0x0c', '0x5']), { error: {} })
  t.ok((await metric(gateway, 'tollgate_cache_calls_total', { network: 'alpha', result: 'hit' })) > 100)
  t.ok((await metric(gateway, 'tollgate_cache_entries')) > 5)
  await node.listen()
})
