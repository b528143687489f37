import t, { type Test } from 'tap'
import { Visitor } from '../dashboard/support/visitor.ts'
import { message, type Access } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { fewMethods } from '../support/few-methods.ts'
import { startGateway } from '../support/gateway.ts'
import type { HttpReply } from '../support/http.ts'
import { rawItems } from '../support/raw-json.ts'
import { refused, refusedItem } from '../support/refusals.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { openClient } from '../support/socket-client.ts'

const node = await startSocketNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl }],
  methods: fewMethods,
  gateway: {
    dashboardHost: '127.0.0.1',
    alerts: { allowPrivate: true },
    management: { origins: ['https://app.example'] },
  },
})

const tomorrow = Math.floor(Date.now() / 1000) + 86_400
const page = 'https://app.example'

interface Limit {
  readonly set: Readonly<Record<string, unknown>>
  readonly looser: readonly object[]
  readonly tighter: object
}

/** Each setting that limits a key, with changes that loosen it and one that does not. */
const limits: readonly Limit[] = [
  {
    set: { dailyLimit: 100 },
    looser: [{ dailyLimit: null }, { dailyLimit: 101 }],
    tighter: { dailyLimit: 99 },
  },
  { set: { perSecond: 50 }, looser: [{ perSecond: null }, { perSecond: 51 }], tighter: { perSecond: 49 } },
  {
    set: { expiresAt: tomorrow },
    looser: [{ expiresAt: null }, { expiresAt: tomorrow + 1 }],
    tighter: { expiresAt: tomorrow - 1 },
  },
  {
    set: { allowedIps: ['127.0.0.0/8', '::1'] },
    looser: [
      { allowedIps: null },
      { allowedIps: ['127.0.0.0/8', '::1', '10.0.0.1'] },
      { allowedIps: ['0.0.0.0/0'] },
    ],
    tighter: { allowedIps: ['127.0.0.0/8'] },
  },
  {
    set: { allowedOrigins: [page, 'https://b.example'], management: true },
    looser: [{ allowedOrigins: null }, { allowedOrigins: [page, 'https://evil.example'], management: true }],
    tighter: { allowedOrigins: [page], management: true },
  },
]

/** An account with a free key, another endpoint, and a key with this limit. */
async function stage(set: object) {
  const owner = await createAccess(gateway, 'paid', 'alpha')
  const other = await owner.another('alpha')
  const limited = await owner.another('alpha')
  const { endpointId } = limited
  await owner.managed('service_updateEndpoint', [{ endpointId, ...set }])
  const settings = async (): Promise<any[]> => {
    const { endpoints } = await owner.managed('service_listEndpoints')
    return endpoints.map((one: object) => ({ ...one, lastUsedAt: null })) as any[]
  }
  return { owner, other, limited, settings }
}

const send = (access: Access, method: string, params: object): Promise<HttpReply> =>
  access.post(message(method, [params]), { headers: { origin: page } })

/** Calls that would give the holder of the key more than it has, whichever limit that is. */
const loosening = ({ other }: { readonly other: Access }): [method: string, params: object][] => [
  ['service_createEndpoint', { chain: 'alpha' }],
  ['service_getEndpoint', { endpointId: other.endpointId }],
  ['service_updateEndpoint', { endpointId: other.endpointId, name: 'mine' }],
  ['service_updateEndpoint', { endpointId: other.endpointId, dailyLimit: 1 }],
  ['service_rotateKey', { endpointId: other.endpointId }],
  ['service_deleteEndpoint', { endpointId: other.endpointId }],
  ['service_setAlerts', { webhook: 'http://127.0.0.1:1/' }],
]

for (const { set, looser, tighter } of limits) {
  const [name] = Object.keys(set)
  t.test(`a key with ${name} does not loosen it`, async t => {
    const { owner, limited, settings } = await stage(set)
    const { endpointId } = limited
    const before = await settings()
    for (const change of looser)
      refused(t, await send(limited, 'service_updateEndpoint', { endpointId, ...change }), {
        reason: 'management_denied',
        id: '1',
      })
    t.strictSame(await settings(), before, 'nothing was changed')
    const tightened = JSON.parse(
      (await send(limited, 'service_updateEndpoint', { endpointId, ...tighter })).text,
    )
    t.match(tightened, { result: tighter })
    for (const change of [set, ...looser])
      await owner.managed('service_updateEndpoint', [{ endpointId, management: true, ...change }])
  })

  t.test(`a key with ${name} reaches neither another endpoint nor another key`, async t => {
    const all = await stage(set)
    const { owner, other, limited, settings } = all
    const before = await settings()
    for (const [method, params] of loosening(all))
      refused(t, await send(limited, method, params), { reason: 'management_denied', id: '1' })
    const listed = await send(limited, 'service_listEndpoints', {})
    t.notMatch(listed.text, owner.key)
    t.notMatch(listed.text, other.key)
    t.match(JSON.parse(listed.text).result, {
      total: 3,
      endpoints: [
        { endpointId: owner.endpointId, keyHint: owner.key.slice(-4) },
        { endpointId: other.endpointId, httpsUrl: /<API_KEY>$/ },
        { endpointId: limited.endpointId, apiKey: limited.key, ...set },
      ],
    })
    t.strictSame(await settings(), before, 'nothing was changed')
    t.equal((await owner.managed('service_alerts')).webhook, null)
  })
}

t.test(
  'a key with a limit reads the account, and changes what limits nothing of its own endpoint',
  async t => {
    const { limited } = await stage({ dailyLimit: 100, expiresAt: tomorrow })
    const { endpointId } = limited
    for (const method of ['service_account', 'service_alerts', 'service_audit', 'service_networkStatus'])
      await limited.managed(method)
    await limited.managed('service_usage', [{ by: 'hour' }])
    t.match(
      await limited.managed('service_updateEndpoint', [{ endpointId, name: 'new', labels: { a: 'b' } }]),
      {
        name: 'new',
        labels: { a: 'b' },
        dailyLimit: 100,
      },
    )
    t.match(await limited.managed('service_getEndpoint', [{ endpointId }]), { apiKey: limited.key })
    const { apiKey, oldKeyExpiresAt } = await limited.managed('service_rotateKey', [
      { endpointId, overlap: '30d' },
    ])
    t.equal(oldKeyExpiresAt, tomorrow, 'the old key does not outlive its endpoint')
    const path = `/alpha/v1/rpc/${String(apiKey)}`
    const lift = message('service_updateEndpoint', [{ endpointId, dailyLimit: null, expiresAt: null }])
    refused(t, await limited.post(lift, { path }), { reason: 'management_denied', id: '1' })
    const gone = await limited.post(message('service_deleteEndpoint', [{ endpointId }]), { path })
    t.match(JSON.parse(gone.text), { result: { deleted: true } })
  },
)

t.test('the rule holds for sockets, batches and notifications', async t => {
  const { limited, settings } = await stage({ dailyLimit: 100 })
  const lift = message('service_updateEndpoint', [{ endpointId: limited.endpointId, dailyLimit: null }])
  const create = message('service_createEndpoint', [{ chain: 'alpha' }])
  const before = await settings()
  const client = await openClient(t, limited)
  refusedItem(t, await client.exchange(lift), { reason: 'management_denied', id: '1' })
  const batch = await limited.post(`[${lift},${create},${message('web3_sha3', ['0x00'])}]`)
  const items = rawItems(batch.text)
  for (const item of items.slice(0, 2)) refusedItem(t, item, { reason: 'management_denied', id: '1' })
  t.match(items[2], '"result"')
  t.equal((await limited.post(lift.replace('"id":1,', ''))).status, 204)
  t.strictSame((await settings()).map(limitOf), before.map(limitOf))
})

const limitOf = ({ endpointId, dailyLimit }: any): unknown => [endpointId, dailyLimit]

t.test('a dashboard session opened with a key is that key; one of the token lifts limits', async t => {
  const all = await stage({ perSecond: 50 })
  const { limited, settings } = all
  const { endpointId } = limited
  const before = await settings()
  const [byKey, byToken] = [new Visitor(gateway), new Visitor(gateway)]
  t.equal((await byKey.signIn(limited.key)).status, 200)
  for (const [method, params] of [
    ...loosening(all),
    ['service_updateEndpoint', { endpointId, perSecond: null }] as const,
  ]) {
    const reply = await byKey.ask(method, params)
    t.equal(reply.status, 403, method)
    t.match(JSON.parse(reply.text), { id: 7, error: { code: 403, data: { reason: 'management_denied' } } })
  }
  t.notMatch((await byKey.ask('service_listEndpoints')).text, all.other.key)
  t.strictSame(await settings(), before)
  t.equal((await byKey.ask('service_updateEndpoint', { endpointId, perSecond: 5 })).status, 200)
  const token = (await withAccounts(gateway, store => store.accounts.rotateToken(limited.accountId)))!
  t.equal((await byToken.signIn(token)).status, 200)
  t.match(await byToken.call('service_updateEndpoint', { endpointId, perSecond: null }), {
    result: { perSecond: null },
  })
  t.match(await byToken.call('service_getEndpoint', { endpointId }), { result: { apiKey: limited.key } })
})

t.test('a key without a limit manages the account as before', async (t: Test) => {
  const { owner, other } = await stage({ perSecond: 50 })
  const { endpointId } = other
  await other.another('alpha')
  await other.managed('service_updateEndpoint', [{ endpointId: owner.endpointId, perSecond: 5 }])
  await other.managed('service_updateEndpoint', [{ endpointId: owner.endpointId, perSecond: null }])
  t.match(await other.managed('service_getEndpoint', [{ endpointId: owner.endpointId }]), {
    apiKey: owner.key,
  })
  t.match(await other.managed('service_updateEndpoint', [{ endpointId, perSecond: 7 }]), { perSecond: 7 })
  refused(t, await send(other, 'service_updateEndpoint', { endpointId, perSecond: null }), {
    reason: 'management_denied',
    id: '1',
  })
})
