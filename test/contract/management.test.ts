import t, { type Test } from 'tap'
import { Access, message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { hostOf } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import { observe } from '../support/observe.ts'
import { refused, refusedItem } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { rawItems } from '../support/raw-json.ts'

const node = await startNode(t, { chainId: 1001 })
const betaNode = await startNode(t, { chainId: 1002 })
const solanaNode = await startNode(t)
const rate = { perSecond: 100_000, burst: 200_000 }
const gateway = await startGateway(t, {
  networks: {
    alpha: { name: 'Alpha Mainnet', chainId: 1001, public: true },
    beta: { name: 'Beta', chainId: 1002, subdomain: 'b-two' },
    sol: { name: 'Solana Test', family: 'solana', chainId: 'solana-test' },
  },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: 'ws://127.0.0.1:1' },
    { id: 'beta-a', network: 'beta', http: betaNode.url },
    { id: 'sol-a', network: 'sol', http: solanaNode.url },
  ],
  plans: { small: { tiers: ['any'], rate, quota: { requests: 3, every: '30d' }, maxBatch: 100 } },
})
const create = (plan = 'paid', chain = 'alpha') => createAccess(gateway, plan, chain)
const body = message('web3_sha3', ['0x00'])

/** Another account, which nobody here may touch. */
const stranger = await create()

/** Holds an error answer of a management call against the contract. */
function answersError(t: Test, reply: any, code: number, text: string | RegExp): void {
  t.strictSame(Object.keys(reply).sort(), ['error', 'id', 'jsonrpc'])
  t.equal(reply.error?.code, code)
  t.match(reply.error?.message, text)
}

t.test('service_supportedNetworks describes every network', async t => {
  const access = await create()
  const expected = [
    ['alpha', 'Alpha Mainnet', 1001, 'alpha-rpc', true],
    ['beta', 'Beta', 1002, 'b-two', false],
    ['sol', 'Solana Test', 'solana-test', 'sol-rpc', false],
  ].map(([slug, name, chainId, subdomain, wss]) => ({
    slug,
    name,
    chainId,
    subdomain,
    httpsEndpoint: `http://${String(subdomain)}.example.test/v1/rpc/<API_KEY>`,
    wssEndpoint: wss === true ? `ws://${String(subdomain)}.example.test/v1/rpc/<API_KEY>` : '',
    wss,
  }))
  for (const params of [[], undefined]) {
    const { networks } = await access.managed('service_supportedNetworks', params)
    t.strictSame(
      networks.toSorted((a: any, b: any) => (a.slug < b.slug ? -1 : 1)),
      expected,
    )
  }
})

t.test('service_createEndpoint makes an endpoint that works at once', async t => {
  const access = await create()
  for (const chain of ['alpha', 'beta', 'sol']) {
    const endpoint = await access.managed('service_createEndpoint', [{ chain, name: `My ${chain} ☃` }])
    t.match(endpoint.apiKey, /^tg_[0-9A-Za-z]{38}$/)
    t.match(endpoint.endpointId, /^\S+$/)
    const place = `${chain === 'beta' ? 'b-two' : `${chain}-rpc`}.example.test/v1/rpc/${endpoint.apiKey}`
    t.strictSame(endpoint, {
      endpointId: endpoint.endpointId,
      name: `My ${chain} ☃`,
      chain,
      status: 'active',
      apiKey: endpoint.apiKey,
      httpsUrl: `http://${place}`,
      wssUrl: chain === 'alpha' ? `ws://${place}` : '',
    })
    const call = chain === 'sol' ? message('getEpochInfo') : body
    const viaHost = await gateway.send({
      path: new URL(endpoint.httpsUrl).pathname,
      headers: { host: new URL(endpoint.httpsUrl).host },
      body: call,
    })
    t.equal(viaHost.status, 200)
    t.strictSame(JSON.parse(viaHost.text), { jsonrpc: '2.0', id: 1, result: 'ok' })
  }
  const made = new Set<string>()
  for (let i = 0; i < 5; i++) {
    const { name, apiKey, endpointId } = await access.managed('service_createEndpoint', [{ chain: 'alpha' }])
    t.match(name, /^alpha-endpoint-[A-Za-z]{3}$/)
    made.add(apiKey).add(endpointId)
  }
  t.equal(made.size, 10, 'keys and ids are all different')
})

t.test('service_createEndpoint refuses a chain that is not there', async t => {
  const access = await create()
  for (const chain of ['nope', '', 'ALPHA', 'constructor', '__proto__'])
    answersError(t, await access.manage('service_createEndpoint', [{ chain }]), -32602, 'Invalid chain')
  for (const chain of [null, 1, ['alpha']])
    answersError(t, await access.manage('service_createEndpoint', [{ chain }]), -32602, /\S/)
  const wrong = [[], [{}], [{ name: 'x' }], ['alpha'], [null], [{ chain: 'alpha' }, 1]]
  for (const params of wrong)
    answersError(t, await access.manage('service_createEndpoint', params), -32602, /\S/)
  t.equal((await access.managed('service_listEndpoints')).total, 1)
})

t.test('the errors of management are answers with HTTP 200 and the id of the call', async t => {
  const access = await create()
  const reply = await access.post(
    '{"jsonrpc":"2.0","id":1.0,"method":"service_createEndpoint","params":[{"chain":"x"}]}',
  )
  t.equal(reply.status, 200)
  t.equal(rawItems(`[${reply.text}]`)[0]?.includes('"id":1.0'), true)
})

t.test('names have 1 to 64 printable characters and need not differ', async t => {
  const access = await create()
  for (const name of ['', 'a'.repeat(65), 'a\nb', 'a\u0000', '\u001b[1m', '\u007f', 1, {}, ['x'], true])
    answersError(t, await access.manage('service_createEndpoint', [{ chain: 'alpha', name }]), -32602, /\S/)
  for (const name of ['a', 'a'.repeat(64), 'x y', 'é☃', 'same', 'same', '<b>"\'&'])
    t.equal((await access.managed('service_createEndpoint', [{ chain: 'alpha', name }])).name, name)
  const { endpointId } = access
  for (const name of ['', 'a'.repeat(65), 'a\tb', 1, null])
    answersError(t, await access.manage('service_updateEndpoint', [{ endpointId, name }]), -32602, /\S/)
  t.equal(
    (await access.managed('service_updateEndpoint', [{ endpointId, name: 'new name' }])).name,
    'new name',
  )
})

t.test('service_listEndpoints tells all of the account and nothing of another', async t => {
  const before = Math.floor(Date.now() / 1000)
  const access = await create()
  const second = await access.another('beta')
  t.equal((await access.post(body)).status, 200)
  t.equal((await second.post(message('eth_getBlockReceipts', ['latest']))).status, 200)
  t.equal((await second.post(body)).status, 200)
  const { total, endpoints } = await access.managed('service_listEndpoints')
  t.equal(total, 2)
  t.equal(endpoints.length, 2)
  const counts: [Access, number, number][] = [
    [access, 1, 1],
    [second, 4, 2],
  ]
  for (const [{ endpointId, slug, key }, requests, calls] of counts) {
    const endpoint = endpoints.find((one: any) => one.endpointId === endpointId)
    const place = `${slug === 'beta' ? 'b-two' : 'alpha-rpc'}.example.test/v1/rpc/${key}`
    t.match(endpoint.name, /\S/)
    t.ok(
      Number.isInteger(endpoint.createdAt) && endpoint.createdAt >= before,
      `createdAt: ${endpoint.createdAt}`,
    )
    t.hasStrict(endpoint, {
      chain: slug,
      status: 'active',
      apiKey: key,
      httpsUrl: `http://${place}`,
      wssUrl: slug === 'alpha' ? `ws://${place}` : '',
      requestCount: requests,
      ruConsumed: requests,
      callCount: calls,
    })
  }
  t.notOk(JSON.stringify(endpoints).includes(stranger.key))
  t.equal((await stranger.managed('service_listEndpoints')).total, 1)
})

t.test('service_updateEndpoint leads into inactive and out again, from any key of the account', async t => {
  const access = await create()
  const other = await access.another('alpha')
  const set = (by: Access, endpointId: string, status: unknown) =>
    by.manage('service_updateEndpoint', [{ endpointId, status }])
  const changed = await set(access, other.endpointId, 'inactive')
  t.hasStrict(changed.result, { endpointId: other.endpointId, chain: 'alpha', status: 'inactive' })
  refused(t, await other.post(body), { reason: 'endpoint_inactive' })
  refused(t, await other.post(message('service_listEndpoints')), { reason: 'endpoint_inactive' })
  const { endpoints } = await access.managed('service_listEndpoints')
  t.strictSame(endpoints.map(({ status }: any) => String(status)).sort(), ['active', 'inactive'])
  t.equal((await set(access, other.endpointId, 'active')).result.status, 'active')
  t.equal((await other.post(body)).status, 200)
  t.equal((await set(other, other.endpointId, 'inactive')).result.status, 'inactive', 'even its own')
  refused(t, await other.post(body), { reason: 'endpoint_inactive' })
  for (const status of ['deleted', '', 1, null, 'ACTIVE'])
    answersError(t, await set(access, access.endpointId, status), -32602, /\S/)
})

t.test('what belongs to nobody or to another account is not found', async t => {
  const access = await create()
  for (const method of ['service_updateEndpoint', 'service_deleteEndpoint']) {
    for (const endpointId of [stranger.endpointId, 'nope', stranger.key])
      answersError(t, await access.manage(method, [{ endpointId }]), -32004, /Endpoint not found/)
    for (const params of [[], [{}], [{ endpointId: 1 }], [{ endpointId: null }], ['x'], [null]])
      answersError(t, await access.manage(method, params), -32602, /\S/)
  }
  t.equal((await stranger.post(body)).status, 200)
  t.equal((await stranger.managed('service_listEndpoints')).endpoints[0].status, 'active')
})

t.test('management: false shuts a key out of the account, not out of the chain', async t => {
  const access = await create()
  const browser = await access.another('alpha')
  const { endpointId } = browser
  await access.managed('service_updateEndpoint', [{ endpointId, management: false }])
  const calls: [method: string, params: unknown[]][] = [
    ['service_listEndpoints', []],
    ['service_createEndpoint', [{ chain: 'alpha' }]],
    ['service_updateEndpoint', [{ endpointId, management: true }]],
    ['service_deleteEndpoint', [{ endpointId: access.endpointId }]],
    ['service_account', []],
    ['service_usage', [{ by: 'hour' }]],
  ]
  for (const [method, params] of calls)
    refused(t, await browser.post(message(method, params)), { reason: 'management_denied', id: '1' })
  t.equal((await browser.post(body)).status, 200)
  t.equal((await access.managed('service_listEndpoints')).total, 2)
  await access.managed('service_updateEndpoint', [{ endpointId, management: true }])
  t.equal((await browser.managed('service_listEndpoints')).total, 2)
})

t.test('allowedOrigins implies management: false, unless it is said', async t => {
  const access = await create()
  const browser = await access.another('alpha')
  const { endpointId } = browser
  const from = async (origin: string | undefined, text = body) => browser.post(text, { headers: { origin } })
  await access.managed('service_updateEndpoint', [{ endpointId, allowedOrigins: ['https://app.example'] }])
  refused(t, await from(undefined), { reason: 'origin_denied' })
  refused(t, await from('https://evil.example'), { reason: 'origin_denied' })
  t.equal((await from('https://app.example')).status, 200)
  const listing = message('service_listEndpoints')
  refused(t, await from('https://app.example', listing), { reason: 'management_denied', id: '1' })
  await access.managed('service_updateEndpoint', [{ endpointId, management: true }])
  t.equal((await from('https://app.example', listing)).status, 200)
  for (const allowedOrigins of ['https://app.example', [1], {}])
    answersError(
      t,
      await access.manage('service_updateEndpoint', [{ endpointId, allowedOrigins }]),
      -32602,
      /\S/,
    )
  for (const allowedIps of ['127.0.0.1', ['nonsense'], ['300.1.1.1'], ['1.2.3.4/40']])
    answersError(t, await access.manage('service_updateEndpoint', [{ endpointId, allowedIps }]), -32602, /\S/)
  for (const perSecond of [0, -1, 'x'])
    answersError(t, await access.manage('service_updateEndpoint', [{ endpointId, perSecond }]), -32602, /\S/)
})

t.test('service_deleteEndpoint ends a key at once and frees its slot', async t => {
  const access = await create()
  const other = await access.another('alpha')
  t.equal((await other.post(message('eth_getBlockReceipts', ['latest']))).status, 200)
  const { endpointId } = other
  t.strictSame(await access.managed('service_deleteEndpoint', [{ endpointId }]), {
    deleted: true,
    endpointId,
  })
  const sent = node.calls.length
  refused(t, await other.post(body), { reason: 'invalid_key' })
  refused(t, await gateway.send({ path: `/v1/rpc/${other.key}`, headers: { host: hostOf('alpha') }, body }), {
    reason: 'invalid_key',
  })
  t.equal(node.calls.length, sent)
  answersError(
    t,
    await access.manage('service_deleteEndpoint', [{ endpointId }]),
    -32004,
    /Endpoint not found/,
  )
  t.equal((await access.managed('service_listEndpoints')).total, 1)
  t.match((await access.managed('service_account')).endpoints, { used: 1, limit: 100 })
  const { rows } = await access.managed('service_usage', [{ by: 'hour' }])
  t.match(
    rows.filter((row: any) => row.endpointId === endpointId),
    [{ network: 'alpha', method: 'eth_getBlockReceipts', calls: 1, requests: 3 }],
    'its usage stays',
  )
})

t.test('an endpoint may delete itself', async t => {
  const access = await create()
  const { endpointId } = access
  t.strictSame(await access.managed('service_deleteEndpoint', [{ endpointId }]), {
    deleted: true,
    endpointId,
  })
  refused(t, await access.post(body), { reason: 'invalid_key' })
})

t.test('service_account tells what the account may and has used', async t => {
  const before = Math.floor(Date.now() / 1000)
  const access = await create('small')
  t.equal((await access.post(body)).status, 200)
  const account = await access.managed('service_account')
  t.ok(Number.isInteger(account.createdAt) && account.createdAt >= before, `createdAt: ${account.createdAt}`)
  t.strictSame(account, {
    accountId: access.accountId,
    name: 'test-small',
    plan: 'small',
    createdAt: account.createdAt,
    quota: { requests: 3, used: 1, resetsAt: Number(account.createdAt) + 30 * 86_400 },
    rate,
    endpoints: { used: 1, limit: 100 },
  })
  const paid = await create('paid', 'sol')
  t.match(await paid.managed('service_account'), {
    plan: 'paid',
    quota: null,
    endpoints: { used: 1, limit: 100 },
  })
})

t.test('service_usage adds up to what was done', async t => {
  const access = await create()
  const other = await access.another('sol')
  for (let i = 0; i < 3; i++) await access.post(body)
  await access.post(message('eth_getBlockReceipts', ['latest']))
  await other.post(message('getEpochInfo'))
  const now = Math.floor(Date.now() / 1000)
  for (const [by, unit] of [
    ['hour', 3600],
    ['day', 86_400],
  ] as const) {
    const usage = await access.managed('service_usage', [{ by }])
    t.strictSame(Object.keys(usage).sort(), ['by', 'from', 'rows', 'to'])
    t.equal(usage.by, by)
    const sums = new Map<string, number[]>()
    for (const row of usage.rows) {
      t.equal(row.time % unit, 0, 'rows start with their unit')
      const name = `${row.endpointId} ${row.network} ${row.method}`
      const [calls = 0, requests = 0] = sums.get(name) ?? []
      sums.set(name, [calls + Number(row.calls), requests + Number(row.requests)])
    }
    t.strictSame([...sums].sort(), [
      ...[
        [`${access.endpointId} alpha eth_getBlockReceipts`, [1, 3]],
        [`${access.endpointId} alpha web3_sha3`, [3, 3]],
        [`${other.endpointId} sol getEpochInfo`, [1, 1]],
      ].sort(),
    ])
  }
  const own = await access.managed('service_usage', [{ by: 'day', endpointId: other.endpointId }])
  t.strictSame([...new Set(own.rows.map((row: any) => String(row.endpointId)))], [other.endpointId])
  const none = await access.managed('service_usage', [{ by: 'hour', from: now - 90_000, to: now - 86_400 }])
  t.strictSame(none.rows, [])
  for (const params of [[{ by: 'year' }], [{ by: 'hour', from: 'x' }]])
    answersError(t, await access.manage('service_usage', params), -32602, /\S/)
  const foreign = await stranger.manage('service_usage', [{ by: 'day', endpointId: other.endpointId }])
  t.notOk(JSON.stringify(foreign).includes('getEpochInfo'), "another account's usage is not shown")
})

t.test('on the public route only the networks are told', async t => {
  const open = new Access(gateway, 'alpha', 'public')
  t.equal((await open.managed('service_supportedNetworks')).networks.length, 3)
  const methods = ['listEndpoints', 'createEndpoint', 'deleteEndpoint', 'updateEndpoint', 'account', 'usage']
  for (const method of methods) {
    const reply = await open.post(message(`service_${method}`, [{ chain: 'alpha' }]))
    refused(t, reply, { reason: 'invalid_key', id: '1' })
  }
})

t.test('management costs nothing, is allowed when the quota is spent, and never reaches a node', async t => {
  const access = await create('small')
  const seen = await observe(access, node, async () => {
    for (let i = 0; i < 3; i++) t.equal((await access.post(body)).status, 200)
    refused(t, await access.post(body), { reason: 'quota_exhausted', id: '1' })
    await access.managed('service_supportedNetworks')
    await access.managed('service_account')
    await access.another('sol')
  })
  t.equal(seen.sent.length, 3)
  t.equal(seen.requests, 3)
  t.equal(seen.calls, 3)
})

t.test('management has a rate of its own', async t => {
  const access = await create()
  const listing = message('service_supportedNetworks')
  const replies = await Promise.all(Array.from({ length: 120 }, () => access.post(listing)))
  const stopped = replies.filter(({ status }) => status !== 200)
  t.ok(replies.length - stopped.length >= 30, `passed: ${replies.length - stopped.length}`)
  t.ok(stopped.length > 0, `stopped: ${stopped.length}`)
  for (const reply of stopped) refused(t, reply, { reason: 'rate_limited', id: '1' })
  t.equal((await access.post(body)).status, 200, 'the chain is not held up by it')
})

t.test('management works in batches, beside calls of the chain and in order', async t => {
  const access = await create('paid', 'sol')
  const items = [
    message('service_listEndpoints', [], 'list'),
    message('getEpochInfo', [], 'chain'),
    message('service_createEndpoint', [{ chain: 'alpha', name: 'from a batch' }], 'create'),
    message('service_createEndpoint', [{ chain: 'nope' }], 'wrong'),
    message('service_nope', [], 'unknown'),
    message('service_account', [], 'account'),
  ]
  const reply = await access.post(`[${items.join()}]`)
  t.equal(reply.status, 200)
  const replies = rawItems(reply.text)
  t.match(
    replies.map(item => JSON.parse(item) as object),
    [
      { id: 'list', result: { total: 1 } },
      { id: 'chain', result: 'ok' },
      { id: 'create', result: { chain: 'alpha', name: 'from a batch', status: 'active' } },
      { id: 'wrong', error: { code: -32602, message: 'Invalid chain' } },
      { id: 'unknown' },
      { id: 'account', result: { accountId: access.accountId } },
    ],
  )
  refusedItem(t, replies[4]!, { reason: 'method_not_found', family: 'solana', id: '"unknown"' })
  t.equal((await access.managed('service_listEndpoints')).total, 2)
})

t.test('a management notification is done and not answered', async t => {
  const access = await create()
  const silent = await access.post(
    '{"jsonrpc":"2.0","method":"service_createEndpoint","params":[{"chain":"sol"}]}',
  )
  t.equal(silent.status, 204)
  t.equal(silent.text, '')
  t.equal((await access.managed('service_listEndpoints')).total, 2)
})

t.test('inactive endpoints count as endpoints', async t => {
  const access = await create()
  const other = await access.another('alpha')
  await access.managed('service_updateEndpoint', [{ endpointId: other.endpointId, status: 'inactive' }])
  t.match((await access.managed('service_account')).endpoints, { used: 2, limit: 100 })
})
