/** What sessions in accounts.db do besides what every implementation of their port does (test/ports/sessions.test.ts). */
import { hash } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import type { Test } from 'tap'
import { KeyCache } from '../../../src/stores/sqlite/accounts/cache.ts'
import type { AccountStore } from '../../../src/stores/sqlite/accounts/store.ts'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { openStore, openWithEndpoint } from './support/open-store.ts'

const START = 1_750_000_000_000
const minutes = (count: number): number => START + count * 60_000

/** A store with an account, its sign-in, and another connection to the same file. */
async function open(t: Test) {
  const made = await openWithEndpoint(t)
  const signIn = made.store.signIns.open(made.dashboardToken)!
  const raw = new DatabaseSync(join(made.dataDir, 'accounts.db'), { timeout: 0 })
  t.teardown(() => raw.close())
  const rows = () => (raw.prepare('SELECT count(*) AS rows FROM session').get() as { rows: number }).rows
  const usedAt = () => (raw.prepare('SELECT used_at FROM session').get() as { used_at: number }).used_at
  return { ...made, signIn, raw, rows, usedAt }
}

/** Resolves behind every write that has begun: they run in order. */
const recorded = (store: AccountStore) => store.accounts.rotateToken('acc_none')

t.test('a session outlives its process, and another one finds and ends it', async t => {
  const { store, dataDir, signIn } = await open(t)
  const id = await store.sessions.open(signIn, START)
  store.close()
  const { store: first } = await openStore(t, { dataDir })
  const { store: second } = await openStore(t, { dataDir })
  t.strictSame(first.sessions.find(id, START), signIn)
  t.strictSame(second.sessions.find(id, minutes(59)), signIn)
  await recorded(second)
  t.strictSame(first.sessions.find(id, minutes(118)), signIn, 'a use in one process counts in the other')
  await second.sessions.end(id)
  t.equal(first.sessions.find(id, minutes(118)), null)
})

t.test('the id is in no file: its hash is', async t => {
  const { store, dataDir, signIn, raw } = await open(t)
  const id = await store.sessions.open(signIn, START)
  t.strictSame(
    Buffer.from((raw.prepare('SELECT id_hash FROM session').get() as { id_hash: Uint8Array }).id_hash),
    hash('sha256', id, 'buffer'),
  )
  for (const name of readdirSync(dataDir)) {
    const bytes = readFileSync(join(dataDir, name))
    t.notOk(bytes.includes(id) || bytes.includes(Buffer.from(id, 'base64url')), name)
  }
})

t.test('a use is recorded once a minute at most', async t => {
  const { store, signIn, usedAt } = await open(t)
  const id = await store.sessions.open(signIn, START)
  const use = async (at: number) => {
    store.sessions.find(id, at)
    await recorded(store)
    return usedAt()
  }
  t.equal(await use(START + 59_999), START)
  t.equal(await use(START + 60_000), START + 60_000)
  t.equal(await use(START + 119_999), START + 60_000)
  t.equal(await use(START + 120_000), START + 120_000)
})

t.test('those that have ended are removed when one is opened', async t => {
  const { store, signIn, rows } = await open(t)
  await store.sessions.open(signIn, START)
  const busy = await store.sessions.open(signIn, START)
  for (let at = 30; at <= 11 * 60 + 30; at += 30) store.sessions.find(busy, minutes(at))
  t.equal(rows(), 2)
  await store.sessions.open(signIn, minutes(11 * 60 + 31))
  t.equal(rows(), 2, 'the idle one is gone')
  await store.sessions.open(signIn, minutes(12 * 60))
  t.equal(rows(), 2, 'and now the one that was used for twelve hours')
})

t.test(
  'there are 10 000 at most: accounts with many make room, and nobody loses an only session',
  async t => {
    const { store, signIn, raw, rows } = await open(t)
    raw.exec(`
    BEGIN;
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000)
      INSERT INTO account (seq, id, name, plan, status, created_at, token_hash)
      SELECT n + 100, 'acc_' || n, 'x', 'free', 'active', 0, CAST('token' || n AS BLOB) FROM number;
    INSERT INTO session
      SELECT CAST(id AS BLOB), id, X'00', NULL, ${START}, ${START} + seq FROM account WHERE name = 'x';
    COMMIT`)
    t.equal(rows(), 10_000)
    const id = await store.sessions.open(signIn, START + 20_000)
    t.equal(rows(), 9_901)
    t.ok(store.sessions.find(id, START + 20_000))
    const first = raw.prepare("SELECT 1 FROM session WHERE account_id = 'acc_1'").get()
    t.equal(first, undefined, 'all have one: the least recently used go, a hundred at once')
    raw.exec(`
    DELETE FROM session WHERE id_hash IN (SELECT id_hash FROM session ORDER BY used_at DESC LIMIT 51 OFFSET 1);
    WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 150)
      INSERT INTO session SELECT CAST('many' || n AS BLOB), 'acc_7000', X'00', NULL, ${START}, ${START} + 30000 + n FROM number`)
    t.equal(rows(), 10_000)
    const accounts = (): unknown => raw.prepare('SELECT count(DISTINCT account_id) AS n FROM session').get()
    const before = accounts()
    await store.sessions.open(signIn, START + 40_000)
    t.equal(rows(), 9_901)
    t.same(accounts(), before, 'whoever had a session has one')
    const left = raw.prepare("SELECT min(used_at) AS oldest FROM session WHERE account_id = 'acc_7000'").get()
    t.match(left, { oldest: START + 30_100 }, 'it is the one with many that has lost the oldest of them')
  },
)

t.test(
  'while the file cannot be written, sessions are found and go on; one cannot be opened or ended',
  async t => {
    const { store, signIn, raw } = await open(t)
    const id = await store.sessions.open(signIn, START)
    raw.exec(`
    CREATE TRIGGER no_insert BEFORE INSERT ON session BEGIN SELECT raise(ABORT, 'no room'); END;
    CREATE TRIGGER no_update BEFORE UPDATE ON session BEGIN SELECT raise(ABORT, 'no room'); END;
    CREATE TRIGGER no_delete BEFORE DELETE ON session BEGIN SELECT raise(ABORT, 'no room'); END`)
    for (const at of [50, 100, 150])
      t.strictSame(store.sessions.find(id, minutes(at)), signIn, `${at} minutes`)
    await t.rejects(store.sessions.open(signIn, minutes(151)), { message: /accounts\.db: no room$/ })
    await t.rejects(store.sessions.end(id), { message: /accounts\.db: no room$/ })
    t.strictSame(store.sessions.find(id, minutes(151)), signIn)
    raw.exec('DROP TRIGGER no_insert; DROP TRIGGER no_update; DROP TRIGGER no_delete')
    t.strictSame(store.sessions.find(id, minutes(152)), signIn)
    await store.sessions.end(id)
    t.equal(store.sessions.find(id, minutes(152)), null)
  },
)

t.test('a lock makes no reader wait, and what nobody has needs no lock to be ended', async t => {
  const { store, signIn, raw } = await open(t)
  const id = await store.sessions.open(signIn, START)
  raw.exec('BEGIN IMMEDIATE')
  t.strictSame(store.sessions.find(id, minutes(5)), signIn)
  await store.sessions.end('A'.repeat(43))
  const opening = store.sessions.open(signIn, minutes(5))
  raw.exec('ROLLBACK')
  t.ok(store.sessions.find(await opening, minutes(5)))
})

t.test('sessions of another process do not make this one forget its keys; what it changes does', async t => {
  const { store, signIn, dataDir, account } = await open(t)
  const { store: other } = await openStore(t, { dataDir })
  const cache = new KeyCache(store)
  const before = cache.changes
  const id = await other.sessions.open(signIn, START)
  cache.poll()
  other.sessions.find(id, minutes(2))
  await other.sessions.end(id)
  cache.poll()
  t.equal(cache.changes, before)
  await store.accounts.change(account.id, { plan: 'paid' })
  const own = cache.changes
  await other.sessions.open(signIn, minutes(3))
  cache.poll()
  t.equal(cache.changes, own, 'nor does a change of its own, seen behind one of theirs')
  await other.accounts.change(account.id, { plan: 'free' })
  await store.accounts.change(account.id, { status: 'suspended' })
  cache.poll()
  t.ok(cache.changes > own + 1, 'a change of theirs is seen behind one of its own')
  const seen = cache.changes
  await other.accounts.rotateToken('acc_none')
  cache.poll()
  t.equal(cache.changes, seen, 'what was refused changed nothing')
})
