import { existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openAccounts } from '../../../src/stores/sqlite/accounts/store.ts'
import { takingBack } from '../../../src/stores/sqlite/accounts/take-back.ts'

/** Logs may stay for a while. */
const isFile = (name: string) => !/-(wal|shm)$/.test(name)

t.test('what was made and is not used goes, folders and all', async t => {
  const dir = t.testdir()
  const dataDir = join(dir, 'a', 'b')
  const takeBack = takingBack(dataDir)
  const store = await openAccounts({ dataDir, env: {} })
  store.close()
  takeBack()
  t.strictSame(readdirSync(dir), [])
  takeBack()
})

t.test('what was there before stays', async t => {
  const dataDir = t.testdir()
  const takeBack = takingBack(dataDir)
  const store = await openAccounts({ dataDir, env: {} })
  store.close()
  takeBack()
  t.ok(existsSync(join(dataDir, 'master.key')))
})

t.test('what holds an account stays', async t => {
  const dataDir = join(t.testdir(), 'data')
  const takeBack = takingBack(dataDir)
  const store = await openAccounts({ dataDir, env: {} })
  await store.accounts.create({ name: 'acme', plan: 'paid' })
  store.close()
  takeBack()
  t.match(readdirSync(dataDir).filter(isFile), ['accounts.db', 'master.key'])
})

t.test('who has it open is told that it is gone before anything is said to be kept', async t => {
  const dataDir = join(t.testdir(), 'data')
  const takeBack = takingBack(dataDir)
  const store = await openAccounts({ dataDir, env: {} })
  takeBack()
  t.notOk(existsSync(dataDir))
  await t.rejects(store.accounts.create({ name: 'acme', plan: 'paid' }), {
    message: /accounts\.db was removed while it was open: the change is lost$/,
  })
  store.close()
})

t.test('what holds something of others stays whole', async t => {
  const dir = t.testdir()
  const dataDir = join(dir, 'data')
  const takeBack = takingBack(dataDir)
  const store = await openAccounts({ dataDir, env: {} })
  store.close()
  writeFileSync(join(dataDir, 'notes'), '')
  takeBack()
  t.match(readdirSync(dataDir).filter(isFile), ['accounts.db', 'master.key', 'notes'])
  const none = takingBack(join(dir, 'none'))
  mkdirSync(join(dir, 'none', 'below'), { recursive: true })
  none()
  t.ok(existsSync(join(dir, 'none', 'below')))
})
