import t from 'tap'
import { openAccounts } from '../../src/stores/sqlite/accounts/store.ts'
import { callService } from '../../src/management/call.ts'
import type { ServiceDeps } from '../../src/management/types.ts'
import { deps } from './support/deps.ts'

t.test('an owner manages endpoints over a real store', async t => {
  const store = await openAccounts({ dataDir: t.testdir(), env: {}, now: () => 1_700_000_000 })
  t.teardown(() => store.close())
  const mine = (await store.accounts.create({ name: 'Acme', plan: 'free' })).account
  const other = (await store.accounts.create({ name: 'Other', plan: 'free' })).account
  const ports: ServiceDeps = { ...deps({ usage: { totals: () => new Map() } }), endpoints: store.endpoints }
  const call = async (method: string, params: object, account = mine): Promise<any> =>
    callService(method, [params], { account }, ports)

  const { result: created } = await call('service_createEndpoint', { chain: 'ethereum' })
  t.match(created.name, /^ethereum-endpoint-[a-z]{3}$/)
  t.equal(created.httpsUrl, `https://ethereum-rpc.example.org/v1/rpc/${created.apiKey}`)
  t.equal(store.findByKey(created.apiKey)?.endpoint.id, created.endpointId)

  const { result: listed } = await call('service_listEndpoints', {})
  const counters = { requestCount: 0, ruConsumed: 0, createdAt: 1_700_000_000, callCount: 0 }
  const open = {
    allowedOrigins: null,
    allowedIps: null,
    management: true,
    perSecond: null,
    dailyLimit: null,
    expiresAt: null,
    lastUsedAt: null,
    labels: {},
  }
  t.strictSame(listed, { total: 1, endpoints: [{ ...created, ...counters, ...open }] })

  const { endpointId } = created
  const locked = { endpointId, allowedOrigins: ['https://app.example.org'] }
  t.match(await call('service_updateEndpoint', locked, other), { error: { code: -32004 } })
  t.match(await call('service_updateEndpoint', locked), {
    result: { allowedOrigins: ['https://app.example.org'], management: false },
  })
  t.match(await call('service_updateEndpoint', { ...locked, management: true, status: 'inactive' }), {
    result: { management: true, status: 'inactive' },
  })

  t.match(await call('service_deleteEndpoint', { endpointId }, other), { error: { code: -32004 } })
  t.strictSame(await call('service_deleteEndpoint', { endpointId }), {
    result: { deleted: true, endpointId },
  })
  t.match(await call('service_deleteEndpoint', { endpointId }), { error: { code: -32004 } })
  t.equal(store.findByKey(created.apiKey), null)
})

t.test('of 200 creations at once 100 get an endpoint', async t => {
  const store = await openAccounts({ dataDir: t.testdir(), env: {} })
  t.teardown(() => store.close())
  const { account } = await store.accounts.create({ name: 'Acme', plan: 'free' })
  const ports: ServiceDeps = { ...deps(), endpoints: store.endpoints }
  const create = () => callService('service_createEndpoint', [{ chain: 'solana' }], { account }, ports)
  const outcomes = await Promise.all(Array.from({ length: 200 }, create))
  const refused = outcomes.filter(outcome => outcome !== null && 'error' in outcome)
  t.equal(refused.length, 100)
  for (const outcome of refused)
    t.match(outcome, { error: { code: -32003, message: 'Endpoint limit reached (100)' } })
})
