import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { addEndpoint, openStore, openWithEndpoint } from './support/open-store.ts'

t.test('nothing of the key of a deleted endpoint is left', async t => {
  const { store, endpoint, dataDir } = await openWithEndpoint(t)
  await store.endpoints.remove(null, endpoint.id)
  const raw = new DatabaseSync(join(dataDir, 'accounts.db'))
  t.match(raw.prepare('SELECT key_hash, sealed_key FROM endpoint').get(), {
    key_hash: null,
    sealed_key: null,
  })
  raw.close()
})

t.test('plans in use are each named once', async t => {
  const { store } = await openStore(t)
  t.strictSame(store.inUse.plans(), [])
  for (const plan of ['paid', 'free', 'free', 'paid', 'free'])
    await store.accounts.create({ name: 'x', plan })
  t.strictSame(store.inUse.plans(), ['free', 'paid'])
})

t.test('the accounts of a plan are counted, and the first three named', async t => {
  const { store } = await openStore(t)
  t.strictSame(store.inUse.accountsWith('free'), { count: 0, first: [] })
  const ids: string[] = []
  for (let number = 0; number < 5; number++)
    ids.push((await store.accounts.create({ name: 'x', plan: 'free' })).account.id)
  t.strictSame(store.inUse.accountsWith('free'), { count: 5, first: ids.slice(0, 3) })
})

t.test('everything is there after closing and opening again', async t => {
  const { store, endpoint, dataDir, account } = await openWithEndpoint(t)
  store.close()
  const { store: again } = await openStore(t, { dataDir })
  t.strictSame(await again.accounts.list(), [account])
  t.strictSame(await again.endpoints.list(account.id), [endpoint])
})

t.test('a write after close fails with a sentence', async t => {
  const { store } = await openStore(t)
  store.close()
  await t.rejects(store.accounts.create({ name: 'x', plan: 'free' }), { message: /accounts\.db was closed$/ })
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
  await store.endpoints.change(account.id, endpoint.id, { status: 'inactive' })
  await store.endpoints.change(account.id, 'ep_none', { status: 'inactive' })
  await store.accounts.change(account.id, { plan: 'paid' })
  await store.accounts.change(account.id, { status: 'suspended' })
  await store.accounts.rotateToken(account.id)
  t.equal(await store.endpoints.move(endpoint.network, 'elsewhere', account.id), 2)
  t.equal(await store.endpoints.move('elsewhere', endpoint.network, 'acc_other'), 0)
  await store.endpoints.remove(account.id, second.id)
  const both = [endpoint.apiKey, second.apiKey]
  t.strictSame(told, [[endpoint.apiKey], both, both, both, [second.apiKey]])
  stop()
  await store.endpoints.remove(account.id, endpoint.id)
  t.equal(told.length, 5)
  t.notOk(store.changedElsewhere(), 'own changes are not those of others')
})

t.test('a failed write leaves nothing, and the next one works', async t => {
  const { store, account, dataDir } = await openWithEndpoint(t)
  const raw = new DatabaseSync(join(dataDir, 'accounts.db'))
  raw.exec("CREATE TRIGGER broken BEFORE INSERT ON endpoint BEGIN SELECT raise(ABORT, 'broken'); END")
  await t.rejects(store.endpoints.create({ accountId: account.id, network: 'bsc' }), {
    message: /accounts\.db: broken$/,
  })
  raw.exec('DROP TRIGGER broken')
  raw.close()
  t.type(await store.endpoints.create({ accountId: account.id, network: 'bsc' }), 'object')
  t.equal(await store.endpoints.count(account.id), 2)
})

t.test('reads leave no snapshot open behind them', async t => {
  const { store, endpoint, dataDir } = await openWithEndpoint(t)
  store.findByKey(endpoint.apiKey)
  await store.accounts.list()
  store.inUse.plans()
  await store.endpoints.list(endpoint.accountId)
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
