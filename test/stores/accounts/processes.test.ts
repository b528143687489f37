import { chmodSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { KeyCache } from '../../../src/stores/sqlite/accounts/cache.ts'
import { openStore, openWithEndpoint } from './support/open-store.ts'
import { startWorker } from './support/start-worker.ts'

t.test('the limit holds when two processes create 100 endpoints each', async t => {
  const { store, account, dataDir } = await openWithEndpoint(t)
  const workers = await Promise.all([startWorker(t), startWorker(t)])
  await Promise.all(workers.map(worker => worker.tell({ open: dataDir })))
  const order = { create: 100, accountId: account.id }
  const results = (await Promise.all(workers.map(worker => worker.tell(order)))) as string[][]
  const keys = results.flat().filter(result => result !== 'limit_reached')
  t.equal(keys.length, 99)
  t.equal(await store.endpoints.count(account.id), 100)
  for (const key of keys) t.equal(store.findByKey(key)?.account.id, account.id)
})

t.test(
  'processes that start together on an empty directory share one master key and one database',
  async t => {
    const dataDir = join(t.testdir(), 'made', 'at', 'first', 'use')
    const workers = await Promise.all([startWorker(t), startWorker(t), startWorker(t)])
    await Promise.all(workers.map(worker => worker.tell({ open: dataDir })))
    t.strictSame(readdirSync(dataDir).sort(), [
      'accounts.db',
      'accounts.db-shm',
      'accounts.db-wal',
      'master.key',
    ])
    const { store } = await openStore(t, { dataDir })
    const { account } = await store.accounts.create({ name: 'Acme', plan: 'free' })
    for (const worker of workers) await worker.tell({ create: 1, accountId: account.id })
    t.equal((await store.endpoints.list(account.id)).length, 3, 'each sealed a key that we can open')
  },
)

t.test('what another process writes is seen: read at once, and by the cache after a poll', async t => {
  const { store, account, endpoint, dataDir } = await openWithEndpoint(t)
  const cache = new KeyCache(store)
  cache.poll()
  cache.find(endpoint.apiKey)
  const worker = await startWorker(t)
  await worker.tell({ open: dataDir })
  t.notOk(store.changedElsewhere(), 'opening changes nothing')
  await worker.tell({ suspend: account.id })
  t.equal((await store.accounts.find(account.id))?.status, 'suspended')
  t.equal(cache.find(endpoint.apiKey)?.account.status, 'active')
  cache.poll()
  t.equal(cache.find(endpoint.apiKey)?.account.status, 'suspended')
})

t.test('a directory that may not be written to is one clear sentence', async t => {
  // Modes do not bind root: a worker with no rights stands in for it.
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  chmodSync(dataDir, 0o555)
  const worker = await startWorker(t, nobody)
  await t.rejects(worker.tell({ open: dataDir }), {
    message:
      /accounts\.db cannot be opened for writing, as \S+ cannot be written: permission denied for .+ mode/,
  })
  await t.rejects(worker.tell({ open: join(dataDir, 'below') }), {
    message: /^the data directory .*below cannot be made: permission denied for .+ mode/,
  })
  t.strictSame(readdirSync(dataDir), [])
})

t.test('a database that may only be read is one clear sentence', async t => {
  const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}
  const dataDir = mkdtempSync(join(tmpdir(), 'tollgate-'))
  t.teardown(() => rmSync(dataDir, { recursive: true, force: true }))
  const { store } = await openStore(t, { dataDir })
  store.close()
  chmodSync(dataDir, 0o755)
  for (const name of readdirSync(dataDir)) chmodSync(join(dataDir, name), 0o444)
  const worker = await startWorker(t, nobody)
  await t.rejects(worker.tell({ open: dataDir }), {
    message: /accounts\.db cannot be opened for writing: permission denied for .+ mode/,
  })
})
