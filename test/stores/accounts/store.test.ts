import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import {
  isWellFormed,
  isWellFormedToken,
  mintKey,
  mintToken,
} from '../../../src/stores/sqlite/accounts/keys.ts'
import { addEndpoint, openStore, openWithEndpoint } from './support/open-store.ts'

t.test('an account is found by id and by its token, and listed by age', async t => {
  const { store } = await openStore(t, { now: () => 1_700_000_000 })
  const { account, dashboardToken } = await store.createAccount({ name: 'Acme', plan: 'free' })
  const second = await store.createAccount({ name: 'Beta', plan: 'paid' })
  t.match(account.id, /^acc_/)
  const expected = { id: account.id, name: 'Acme', plan: 'free', status: 'active', createdAt: 1_700_000_000 }
  t.strictSame(account, expected)
  t.ok(isWellFormedToken(dashboardToken))
  t.strictSame(store.account(account.id), expected)
  t.strictSame(store.findByToken(dashboardToken), expected)
  t.strictSame(store.accounts(), [account, second.account])
  t.equal(store.account('acc_none'), null)
  t.equal(store.findByToken(mintToken()), null)
  t.equal(store.findByToken('tgd_short'), null)
  t.equal(store.findByToken(mintKey()), null)
})

t.test('plan and status change, and a rotated token replaces the old one', async t => {
  const { store } = await openStore(t)
  const { account, dashboardToken } = await store.createAccount({ name: 'Acme', plan: 'free' })
  t.strictSame(await store.setPlan(account.id, 'paid'), { ...account, plan: 'paid' })
  t.strictSame(await store.setStatus(account.id, 'suspended'), {
    ...account,
    plan: 'paid',
    status: 'suspended',
  })
  const token = await store.rotateToken(account.id)
  t.ok(isWellFormedToken(token!))
  t.equal(store.findByToken(dashboardToken), null)
  t.equal(store.findByToken(token!)?.id, account.id)
  t.equal(await store.setPlan('acc_none', 'paid'), null)
  t.equal(await store.setStatus('acc_none', 'active'), null)
  t.equal(await store.rotateToken('acc_none'), null)
})

t.test('plans in use are each named once', async t => {
  const { store } = await openStore(t)
  t.strictSame(store.inUse.plans(), [])
  for (const plan of ['paid', 'free', 'free', 'paid', 'free']) await store.createAccount({ name: 'x', plan })
  t.strictSame(store.inUse.plans(), ['free', 'paid'])
})

t.test('an endpoint is found by its key, with its account', async t => {
  const { store } = await openStore(t, { now: () => 1_700_000_000 })
  const { account } = await store.createAccount({ name: 'Acme', plan: 'free' })
  const created = await store.createEndpoint({ accountId: account.id, network: 'bsc', name: 'prod' })
  if (typeof created === 'string') return t.fail(created)
  const { apiKey, ...endpoint } = created
  t.ok(isWellFormed(apiKey))
  t.strictSame(endpoint, {
    id: endpoint.id,
    accountId: account.id,
    network: 'bsc',
    name: 'prod',
    status: 'active',
    createdAt: 1_700_000_000,
    management: true,
    allowedOrigins: null,
    allowedIps: null,
    perSecond: null,
  })
  t.strictSame(store.findByKey(apiKey), { account, endpoint })
  t.strictSame(store.endpoint(endpoint.id), endpoint)
  t.strictSame(store.endpoints(account.id), [created])
  t.equal(store.endpointCount(account.id), 1)
  t.equal(store.findByKey(mintKey()), null)
  t.equal(store.findByKey('tg_short'), null)
  t.equal(store.endpoint('ep_none'), null)
  t.strictSame(store.endpoints('acc_none'), [])
})

t.test('an endpoint without a name gets one, and one without an account is refused', async t => {
  const { store } = await openStore(t)
  const { account } = await store.createAccount({ name: 'Acme', plan: 'free' })
  t.match(await store.createEndpoint({ accountId: account.id, network: 'bsc' }), {
    name: /^bsc-endpoint-[a-z]{3}$/,
  })
  t.equal(await store.createEndpoint({ accountId: 'acc_none', network: 'bsc' }), 'no_account')
})

t.test('an owner changes what is theirs, and only what is said', async t => {
  const { store, endpoint } = await openWithEndpoint(t)
  const { accountId, id } = endpoint
  const other = (await store.createAccount({ name: 'Other', plan: 'free' })).account
  t.equal(await store.updateEndpoint(other.id, id, { status: 'inactive' }), null)
  t.equal(await store.updateEndpoint(accountId, 'ep_none', { status: 'inactive' }), null)
  t.strictSame(await store.updateEndpoint(accountId, id, {}), endpoint)

  const changed = { name: 'ü', status: 'inactive', allowedIps: ['10.0.0.0/8'], perSecond: 5 } as const
  t.strictSame(await store.updateEndpoint(accountId, id, changed), { ...endpoint, ...changed })
  t.strictSame(store.endpoints(accountId), [{ ...endpoint, ...changed }])
  t.equal(store.findByKey(endpoint.apiKey)?.endpoint.status, 'inactive', 'an inactive key is still known')

  const back = { status: 'active', allowedIps: null, perSecond: null, name: endpoint.name } as const
  t.strictSame(await store.updateEndpoint(null, id, back), endpoint, 'the operator may change any')
})

t.test('a list of origins takes management away unless the change keeps it', async t => {
  const { store, endpoint } = await openWithEndpoint(t)
  const allowedOrigins = ['https://app.example.org']
  const update = (change: object) => store.updateEndpoint(endpoint.accountId, endpoint.id, change)
  t.match(await update({ allowedOrigins, management: true }), { allowedOrigins, management: true })
  t.match(await update({ allowedOrigins: null }), { allowedOrigins: null, management: true })
  t.match(await update({ allowedOrigins }), { allowedOrigins, management: false })
  t.match(await update({ allowedOrigins: null }), { allowedOrigins: null, management: false })
  t.match(store.endpoint(endpoint.id), { allowedOrigins: null, management: false })
})

t.test('a deleted endpoint is gone but for its name', async t => {
  const { store, endpoint, dataDir } = await openWithEndpoint(t)
  const { apiKey, ...rest } = endpoint
  t.equal(await store.deleteEndpoint('acc_other', endpoint.id), null)
  t.strictSame(await store.deleteEndpoint(endpoint.accountId, endpoint.id), rest)
  t.equal(await store.deleteEndpoint(endpoint.accountId, endpoint.id), null)
  t.equal(await store.updateEndpoint(null, endpoint.id, { status: 'active' }), null)
  t.equal(store.findByKey(apiKey), null)
  t.equal(store.endpoint(endpoint.id), null)
  t.strictSame(store.endpoints(endpoint.accountId), [])
  const { accountId, network, name } = endpoint
  t.strictSame(store.endpointLabel(endpoint.id), { accountId, network, name, deleted: true })
  t.equal(store.endpointLabel('ep_none'), null)

  const raw = new DatabaseSync(join(dataDir, 'accounts.db'))
  t.match(raw.prepare('SELECT key_hash, sealed_key FROM endpoint').get(), {
    key_hash: null,
    sealed_key: null,
  })
  raw.close()
})

t.test('the 101st endpoint is refused; inactive ones count, deleted ones do not', async t => {
  const { store, endpoint } = await openWithEndpoint(t)
  const { accountId } = endpoint
  const create = () => store.createEndpoint({ accountId, network: 'bsc' })
  const results = await Promise.all(Array.from({ length: 200 }, create))
  t.equal(results.filter(result => result === 'limit_reached').length, 101)
  t.equal(store.endpointCount(accountId), 100)
  const ids = store.endpoints(accountId).map(({ id }) => id)
  t.strictSame(ids, [
    endpoint.id,
    ...results.flatMap(result => (typeof result === 'string' ? [] : [result.id])),
  ])

  await store.updateEndpoint(accountId, endpoint.id, { status: 'inactive' })
  t.equal(await create(), 'limit_reached')
  await store.deleteEndpoint(accountId, endpoint.id)
  t.type(await create(), 'object')
  t.equal(await create(), 'limit_reached')
})

t.test('everything is there after closing and opening again', async t => {
  const { store, endpoint, dataDir, account } = await openWithEndpoint(t)
  store.close()
  const { store: again } = await openStore(t, { dataDir })
  t.strictSame(again.accounts(), [account])
  t.strictSame(again.endpoints(account.id), [endpoint])
})

t.test('a write after close fails with a sentence', async t => {
  const { store } = await openStore(t)
  store.close()
  await t.rejects(store.createAccount({ name: 'x', plan: 'free' }), { message: /accounts\.db was closed$/ })
})

t.test('no key or token is in the files in clear, nor in what the store prints', async t => {
  const { store, endpoint, dataDir, dashboardToken } = await openWithEndpoint(t)
  for (const name of readdirSync(dataDir)) {
    const bytes = readFileSync(join(dataDir, name))
    t.notOk(bytes.includes(endpoint.apiKey), name)
    t.notOk(bytes.includes(dashboardToken), name)
  }
  t.ok(statSync(join(dataDir, 'accounts.db-wal')).size > 0, 'the log was among them')
  t.notMatch(inspect(store, { depth: 9, showHidden: true }), endpoint.apiKey)
})

t.test('what this process changes is told in the turn that commits it', async t => {
  const { store, endpoint, account } = await openWithEndpoint(t)
  const second = await addEndpoint(store, account.id)
  const told: (readonly string[])[] = []
  const stop = store.onChange(keys => told.push(keys))
  await store.updateEndpoint(account.id, endpoint.id, { status: 'inactive' })
  await store.updateEndpoint(account.id, 'ep_none', { status: 'inactive' })
  await store.setPlan(account.id, 'paid')
  await store.setStatus(account.id, 'suspended')
  await store.rotateToken(account.id)
  t.equal(await store.moveEndpoints(endpoint.network, 'elsewhere', account.id), 2)
  t.equal(await store.moveEndpoints('elsewhere', endpoint.network, 'acc_other'), 0)
  await store.deleteEndpoint(account.id, second.id)
  const both = [endpoint.apiKey, second.apiKey]
  t.strictSame(told, [[endpoint.apiKey], both, both, both, [second.apiKey]])
  stop()
  await store.deleteEndpoint(account.id, endpoint.id)
  t.equal(told.length, 5)
  t.notOk(store.changedElsewhere(), 'own changes are not those of others')
})

t.test('a failed write leaves nothing, and the next one works', async t => {
  const { store, account, dataDir } = await openWithEndpoint(t)
  const raw = new DatabaseSync(join(dataDir, 'accounts.db'))
  raw.exec("CREATE TRIGGER broken BEFORE INSERT ON endpoint BEGIN SELECT raise(ABORT, 'broken'); END")
  await t.rejects(store.createEndpoint({ accountId: account.id, network: 'bsc' }), {
    message: /accounts\.db: broken$/,
  })
  raw.exec('DROP TRIGGER broken')
  raw.close()
  t.type(await store.createEndpoint({ accountId: account.id, network: 'bsc' }), 'object')
  t.equal(store.endpointCount(account.id), 2)
})

t.test('reads leave no snapshot open behind them', async t => {
  const { store, endpoint, dataDir } = await openWithEndpoint(t)
  store.findByKey(endpoint.apiKey)
  store.accounts()
  store.inUse.plans()
  store.endpoints(endpoint.accountId)
  const raw = new DatabaseSync(join(dataDir, 'accounts.db'))
  t.match(raw.prepare('PRAGMA wal_checkpoint(TRUNCATE)').get(), { busy: 0 })
  raw.close()
})

t.test('the database survives garbage collection for as long as the store does', async t => {
  const { store, endpoint } = await openWithEndpoint(t)
  setFlagsFromString('--expose-gc')
  const collect = runInNewContext('gc') as () => void
  for (let i = 0; i < 5; i++) {
    collect()
    await new Promise(resolve => setImmediate(resolve))
  }
  t.equal(store.findByKey(endpoint.apiKey)?.endpoint.id, endpoint.id)
})
