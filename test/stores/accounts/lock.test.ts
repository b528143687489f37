import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import t from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { whenFree } from '../../../src/stores/sqlite/patience.ts'
import { openStore, openWithEndpoint } from './support/open-store.ts'

/** Another connection in the middle of a write. */
function holdLock(dataDir: string): { release(): void } {
  const database = new DatabaseSync(join(dataDir, 'accounts.db'))
  database.exec("BEGIN IMMEDIATE; UPDATE account SET plan = 'held'")
  return {
    release() {
      database.exec('ROLLBACK')
      database.close()
    },
  }
}

/** Lets the loop turn `count` times; the longest turn in milliseconds. */
async function longestTurn(count: number): Promise<number> {
  let longest = 0
  for (let i = 0; i < count; i++) {
    const before = performance.now()
    await sleep(1)
    longest = Math.max(longest, performance.now() - before)
  }
  return longest
}

t.test('a held lock delays a write, and neither the loop nor reads', async t => {
  const { store, account, endpoint, dataDir } = await openWithEndpoint(t)
  const lock = holdLock(dataDir)
  let done = false
  const write = store.accounts.change(account.id, { plan: 'paid' }).finally(() => (done = true))
  t.ok((await longestTurn(200)) < 1000, 'the loop turned all the while')
  t.equal(store.findByKey(endpoint.apiKey)?.account.plan, 'free')
  t.notOk(done)
  lock.release()
  t.match(await write, { plan: 'paid' })
  t.equal((await store.accounts.find(account.id))?.plan, 'paid')
})

t.test('writes that wait keep their order', async t => {
  const { store, account, dataDir } = await openWithEndpoint(t)
  const lock = holdLock(dataDir)
  const order: string[] = []
  const writes = ['a', 'b', 'c'].map(async plan => {
    await store.accounts.change(account.id, { plan: plan })
    order.push(plan)
  })
  await longestTurn(30)
  lock.release()
  await Promise.all(writes)
  t.strictSame(order, ['a', 'b', 'c'])
  t.equal((await store.accounts.find(account.id))?.plan, 'c')
})

t.test('after 5 s every waiting write fails with a sentence, and a later one works', async t => {
  const { store, account, dataDir } = await openWithEndpoint(t)
  const lock = holdLock(dataDir)
  const clock = performance.now.bind(performance)
  let ahead = 0
  performance.now = () => clock() + ahead
  t.teardown(() => Reflect.deleteProperty(performance, 'now'))

  const settled = { count: 0 }
  const writes = [
    store.accounts.change(account.id, { plan: 'a' }),
    store.accounts.change(account.id, { plan: 'b' }),
  ].map(write =>
    t.rejects(write, { message: /accounts\.db is locked by another process$/ }).then(() => settled.count++),
  )
  ahead = 2000
  await longestTurn(30)
  t.equal(settled.count, 0, 'not before')
  ahead = 5001
  await Promise.all(writes)
  lock.release()
  t.match(await store.accounts.change(account.id, { plan: 'c' }), { plan: 'c' })
})

t.test('opening waits for a lock, too', async t => {
  const { dataDir } = await openWithEndpoint(t)
  const lock = holdLock(dataDir)
  const opening = openStore(t, { dataDir })
  t.ok((await longestTurn(50)) < 1000)
  lock.release()
  t.equal((await (await opening).store.accounts.list()).length, 1)
})

t.test('closing ends the waiting', async t => {
  const { store, account, dataDir } = await openWithEndpoint(t)
  const lock = holdLock(dataDir)
  const write = t.rejects(store.accounts.change(account.id, { plan: 'paid' }), {
    message: /accounts\.db was closed$/,
  })
  await longestTurn(3)
  store.close()
  await write
  lock.release()
})

t.test('what is no lock is not waited for', async t => {
  let attempts = 0
  const attempt = () => {
    attempts++
    throw new Error('no')
  }
  await t.rejects(whenFree(attempt, performance.now() + 5000), { message: 'no' })
  t.equal(attempts, 1)
})
