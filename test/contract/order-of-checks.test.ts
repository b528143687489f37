import t from 'tap'
import { message, type Access } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { runJson } from '../support/cli.ts'
import { hostOf } from '../support/config-files.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpOptions } from '../support/http.ts'
import { rawItems } from '../support/raw-json.ts'
import { refused, refusedItem, type ExpectedRefusal } from '../support/refusals.ts'
import { startNode } from '../support/scripted-node.ts'
import { until } from '../support/until.ts'

/** Each case makes two findings at once; the check that comes first in the contract must be the one that answers. */

const node = await startNode(t, { chainId: 1001 })
const rate = { perSecond: 100_000, burst: 100_000 }
const everything = ['any', 'paid']
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 }, beta: { chainId: 1001 }, down: { chainId: 1002 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, capabilities: ['debug'] },
    { id: 'beta-a', network: 'beta', http: node.url },
    { id: 'down-a', network: 'down', http: 'http://127.0.0.1:1' },
  ],
  plans: {
    tight: { tiers: everything, rate: { perSecond: 1, burst: 20 }, maxBatch: 100 },
    both: {
      tiers: everything,
      rate: { perSecond: 1, burst: 20 },
      quota: { requests: 20, every: '30d' },
      maxBatch: 100,
    },
    small: { tiers: everything, rate, quota: { requests: 20, every: '30d' }, maxBatch: 100 },
  },
  gateway: { limits: { body: '64KiB' }, trustedProxies: ['127.0.0.1/32'] },
})

const good = message('web3_sha3', ['0x00'])
const twenty = message('debug_traceBlockByNumber', ['latest'])
const long = 'a'.repeat(70_000)
const text = { 'content-type': 'text/plain' }

const access = await createAccess(gateway, 'paid', 'alpha')
const free = await createAccess(gateway, 'free', 'alpha')
const onDown = await access.another('down')

const inactive = await access.another('alpha')
await access.managed('service_updateEndpoint', [{ endpointId: inactive.endpointId, status: 'inactive' }])
const guarded = await access.another('alpha')
await access.managed('service_updateEndpoint', [
  { endpointId: guarded.endpointId, allowedOrigins: ['https://app.example'] },
])

const suspended = await createAccess(gateway, 'paid', 'alpha')
const suspendedInactive = await suspended.another('alpha')
await suspended.managed('service_updateEndpoint', [
  { endpointId: suspendedInactive.endpointId, status: 'inactive' },
])
const deleted = await suspended.another('alpha')
await suspended.managed('service_deleteEndpoint', [{ endpointId: deleted.endpointId }])
await runJson(gateway.dir, ['account', 'suspend', suspended.accountId])
await until('the account is suspended', async () => (await suspended.post(good)).status === 403)

const spent = async (plan: string) => {
  const emptied = await createAccess(gateway, plan, 'alpha')
  if ((await emptied.post(twenty)).status !== 200) throw new Error(`cannot spend what ${plan} has`)
  return emptied
}
const rateSpent = await spent('tight')
const bothSpent = await spent('both')
const quotaSpent = await spent('small')

interface OrderCase {
  readonly name: string
  readonly by: Access
  readonly body?: string
  readonly options?: HttpOptions
  readonly expect: ExpectedRefusal
}

const nowhere = { path: '/nowhere', method: 'GET' }
const cases: OrderCase[] = [
  { name: 'path before verb', by: access, options: nowhere, expect: { reason: 'not_found' } },
  {
    name: 'host before key',
    by: access,
    options: { path: '/v1/rpc/nonsense', headers: { host: hostOf('nowhere') } },
    expect: { reason: 'not_found' },
  },
  {
    name: 'verb before key',
    by: access,
    options: { path: '/alpha/v1/rpc/nonsense', method: 'GET' },
    expect: { reason: 'method_not_allowed' },
  },
  {
    name: 'verb before a suspended account',
    by: suspended,
    options: { method: 'PUT' },
    expect: { reason: 'method_not_allowed' },
  },
  {
    name: 'key before media type',
    by: access,
    options: { path: '/alpha/v1/rpc/nonsense', headers: text },
    expect: { reason: 'invalid_key' },
  },
  {
    name: 'key before body size',
    by: access,
    body: long,
    options: { path: '/alpha/v1/rpc/nonsense' },
    expect: { reason: 'invalid_key' },
  },
  { name: 'key before a suspended account', by: deleted, expect: { reason: 'invalid_key' } },
  {
    name: 'suspended account before inactive endpoint',
    by: suspendedInactive,
    expect: { reason: 'account_suspended' },
  },
  {
    name: 'suspended account before network',
    by: suspended.on('beta'),
    expect: { reason: 'account_suspended' },
  },
  {
    name: 'suspended account before JSON',
    by: suspended,
    body: '{',
    expect: { reason: 'account_suspended' },
  },
  {
    name: 'inactive endpoint before network',
    by: inactive.on('beta'),
    expect: { reason: 'endpoint_inactive' },
  },
  {
    name: 'inactive endpoint before media type',
    by: inactive,
    options: { headers: text },
    expect: { reason: 'endpoint_inactive' },
  },
  { name: 'network before Origin', by: guarded.on('beta'), expect: { reason: 'wrong_network' } },
  {
    name: 'network before media type',
    by: access.on('beta'),
    options: { headers: text },
    expect: { reason: 'wrong_network' },
  },
  {
    name: 'Origin before media type',
    by: guarded,
    options: { headers: text },
    expect: { reason: 'origin_denied' },
  },
  {
    name: 'media type before body size',
    by: access,
    body: long,
    options: { headers: text },
    expect: { reason: 'unsupported_media_type' },
  },
  { name: 'body size before JSON', by: access, body: `{${long}`, expect: { reason: 'body_too_large' } },
  {
    name: 'JSON before batch size',
    by: access,
    body: `[${'1,'.repeat(999)}x]`,
    expect: { reason: 'parse_error' },
  },
  {
    name: 'shape before method',
    by: access,
    body: '{"jsonrpc":"1.0","id":1,"method":"nope"}',
    expect: { reason: 'invalid_request', id: '1' },
  },
  {
    name: 'method before tier and params',
    by: free,
    body: message('debug_setHead', {}),
    expect: { reason: 'method_not_found', id: '1' },
  },
  {
    name: 'tier before params',
    by: free,
    body: message('debug_traceBlockByNumber', []),
    expect: { reason: 'plan_required', id: '1' },
  },
  {
    name: 'tier before capability',
    by: free,
    body: message('trace_block', ['latest']),
    expect: { reason: 'plan_required', id: '1' },
  },
  {
    name: 'shape before rate',
    by: rateSpent,
    body: '{"jsonrpc":"1.0","id":1,"method":"web3_sha3","params":["0x00"]}',
    expect: { reason: 'invalid_request', id: '1' },
  },
  {
    name: 'method before rate',
    by: rateSpent,
    body: message('nope'),
    expect: { reason: 'method_not_found', id: '1' },
  },
  {
    name: 'params before rate',
    by: rateSpent,
    body: message('debug_traceBlockByNumber', []),
    expect: { reason: 'invalid_params', id: '1' },
  },
  { name: 'rate before quota', by: bothSpent, body: twenty, expect: { reason: 'rate_limited', id: '1' } },
  {
    name: 'capability before rate',
    by: rateSpent,
    body: message('trace_block', ['latest']),
    expect: { reason: 'capability_missing', id: '1' },
  },
  {
    name: 'params before quota',
    by: quotaSpent,
    body: message('web3_sha3', []),
    expect: { reason: 'invalid_params', id: '1' },
  },
  {
    name: 'capability before quota',
    by: quotaSpent,
    body: message('trace_block', ['latest']),
    expect: { reason: 'capability_missing', id: '1' },
  },
  {
    name: 'params before capability',
    by: access,
    body: message('trace_block', []),
    expect: { reason: 'invalid_params', id: '1' },
  },
  {
    name: 'capability before route',
    by: onDown,
    body: message('trace_block', ['latest']),
    expect: { reason: 'capability_missing', id: '1' },
  },
]

for (const { name, by, body = good, options = {}, expect } of cases) {
  t.test(name, async t => {
    const before = node.calls.length
    // Every case comes from an address of its own, so that bad keys are not counted together.
    const headers = {
      'x-forwarded-for': `198.51.100.${cases.findIndex(one => one.name === name)}`,
      ...options.headers,
    }
    refused(t, await by.post(body, { ...options, headers }), expect)
    t.equal(node.calls.length, before)
  })
}

t.test('item 1001 of a batch before the JSON behind it', async t => {
  const { status, text } = await access.post(`[${'1,'.repeat(1001)}x]`)
  t.equal(status, 413)
  t.match(JSON.parse(text), { error: { data: { reason: 'batch_too_large' } } })
})

t.test('batch size before the shape of its items', async t => {
  const items = Array.from({ length: 101 }, (_, i) => `{"jsonrpc":"1.0","id":${i},"method":5}`)
  const reply = await access.post(`[${items.join()}]`)
  t.equal(reply.status, 200)
  for (const [i, item] of rawItems(reply.text).entries())
    refusedItem(t, item, { reason: 'batch_too_large', id: String(i) })
})

t.test('OPTIONS before key', async t => {
  const reply = await access.post('', { method: 'OPTIONS', path: '/alpha/v1/rpc/nonsense' })
  t.equal(reply.status, 204)
})

t.test('nothing of all this was charged', async t => {
  t.same(await access.usage(), { requests: 0, calls: 0 })
  t.same(await free.usage(), { requests: 0, calls: 0 })
  for (const emptied of [rateSpent, bothSpent, quotaSpent])
    t.same(await emptied.usage(), { requests: 20, calls: 1 })
})
