import { randomBytes } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { accountsFile } from '../../../src/stores/sqlite/accounts/schema.ts'
import { openAccounts } from '../../../src/stores/sqlite/accounts/store.ts'
import { addEndpoint, openStore, openWithEndpoint } from './support/open-store.ts'

const newKey = () => randomBytes(32).toString('base64')
const open = (dataDir: string, env: NodeJS.ProcessEnv = {}) => openAccounts({ dataDir, env })

/** A directory whose accounts.db was in use. */
async function closedDatabase(t: Test): Promise<{ dataDir: string; file: string }> {
  const { store, account, dataDir: used } = await openWithEndpoint(t)
  for (let i = 0; i < 80; i++) await addEndpoint(store, account.id)
  store.close()
  // A copy, because the closed connection lingers in this process until its statements are garbage-collected.
  const dataDir = join(used, 'copy')
  mkdirSync(dataDir)
  for (const name of ['accounts.db', 'master.key']) copyFileSync(join(used, name), join(dataDir, name))
  return { dataDir, file: join(dataDir, 'accounts.db') }
}

t.test('the first start makes the directory, for its owner only', async t => {
  const dataDir = join(t.testdir(), 'a', 'b')
  await openStore(t, { dataDir })
  t.equal(statSync(dataDir).mode & 0o777, 0o700)
})

t.test('the database is in WAL mode', async t => {
  const { file } = await closedDatabase(t)
  const raw = new DatabaseSync(file)
  t.strictSame({ ...(raw.prepare('PRAGMA journal_mode').get() as object) }, { journal_mode: 'wal' })
  raw.close()
})

t.test('a wrong master key stops the start', async t => {
  const { dataDir } = await closedDatabase(t)
  await t.rejects(open(dataDir, { TOLLGATE_MASTER_KEY: newKey() }), {
    message: `the master key does not open accounts.db in ${dataDir}: TOLLGATE_MASTER_KEY is set, so ${dataDir}/master.key is ignored; unset it, and change the key with tollgate master-key rotate`,
  })
  const file = join(dataDir, 'master.key')
  const right = readFileSync(file, 'utf8')
  writeFileSync(file, newKey())
  await t.rejects(
    open(dataDir, { TOLLGATE_MASTER_KEY_FILE: file }),
    { message: `the master key does not open accounts.db in ${dataDir}` },
    'bug: the file that was read was said to be ignored',
  )
  const store = await open(dataDir, { TOLLGATE_MASTER_KEY: right })
  t.equal((await store.accounts.list()).length, 1)
  store.close()
})

t.test('a lost master key stops the start, and no new one is made', async t => {
  const { dataDir } = await closedDatabase(t)
  renameSync(join(dataDir, 'master.key'), join(dataDir, 'elsewhere'))
  await t.rejects(open(dataDir), { message: /^the master key of accounts\.db is missing/ })
  t.notOk(existsSync(join(dataDir, 'master.key')))
})

t.test('a malformed master key leaves a new directory as if never started', async t => {
  const dataDir = t.testdir()
  await t.rejects(open(dataDir, { TOLLGATE_MASTER_KEY: 'x' }), { message: /malformed/ })
  const store = await open(dataDir, { TOLLGATE_MASTER_KEY: newKey() })
  store.close()
  t.notOk(existsSync(join(dataDir, 'master.key')), 'a key from the environment is written nowhere')
})

t.test('a file that is no database is one sentence, and left alone', async t => {
  const text = 'once upon a time '.repeat(1000)
  const dataDir = t.testdir({ 'accounts.db': text })
  await t.rejects(open(dataDir), { message: `${join(dataDir, 'accounts.db')} is not a SQLite database` })
  t.equal(readFileSync(join(dataDir, 'accounts.db'), 'utf8'), text)
})

t.test("another program's database is one sentence, and left alone", async t => {
  const dataDir = t.testdir()
  const file = join(dataDir, 'accounts.db')
  const raw = new DatabaseSync(file)
  raw.exec('CREATE TABLE account (id); PRAGMA user_version = 1')
  raw.close()
  const before = readFileSync(file)
  await t.rejects(open(dataDir), { message: `${file} is a database of another program` })
  t.ok(readFileSync(file).equals(before))
})

t.test('tables of another version are one sentence', async t => {
  const { dataDir, file } = await closedDatabase(t)
  const { version } = accountsFile
  for (const [found, writer] of [
    [version + 1, 'a newer'],
    [version - 1, 'an older'],
  ] as const) {
    const raw = new DatabaseSync(file)
    raw.exec(`PRAGMA user_version = ${found}`)
    raw.close()
    await t.rejects(open(dataDir), {
      message: `accounts.db was written by ${writer} Tollgate (schema ${found}, this version uses ${version})`,
    })
  }
})

t.test('a torn file is one sentence', async t => {
  const { dataDir, file } = await closedDatabase(t)
  const { size } = statSync(file)
  for (const left of [size - 4096, 4096, 100, 50]) {
    truncateSync(file, left)
    await t.rejects(
      open(dataDir),
      { message: /accounts\.db is (damaged: .+|not a SQLite database)$/ },
      `${left} bytes`,
    )
  }
})

t.test('a file with a page of rubbish is one sentence', async t => {
  const { dataDir, file } = await closedDatabase(t)
  const sound = readFileSync(file)
  t.ok(sound.length > 4096 * 5)
  for (let at = 4096; at < sound.length; at += 4096) {
    const broken = Buffer.from(sound)
    broken.fill(0xa5, at, at + 4096)
    writeFileSync(file, broken)
    await t.rejects(open(dataDir), { message: /accounts\.db is damaged: [^\n]+$/ }, `page at ${at}`)
  }
  writeFileSync(file, sound)
  const { store } = await openStore(t, { dataDir })
  t.equal((await store.accounts.list()).length, 1)
})

t.test('a directory that cannot be, and one in the place of the file, are one sentence each', async t => {
  const dataDir = t.testdir({ file: '', 'accounts.db': {} })
  await t.rejects(open(join(dataDir, 'file', 'below')), {
    message: /^the data directory .* cannot be made: part of its path is not a directory$/,
  })
  await t.rejects(open(join(dataDir, 'file')), {
    message: /^the data directory .* cannot be read: it is not a directory$/,
  })
  await t.rejects(open(dataDir), { message: /accounts\.db cannot be opened for writing: it is a directory$/ })
})

t.test('a store that could not be opened holds no lock', async t => {
  const { dataDir, file } = await closedDatabase(t)
  await t.rejects(open(dataDir, { TOLLGATE_MASTER_KEY: newKey() }))
  const raw = new DatabaseSync(file, { timeout: 0 })
  raw.exec('BEGIN IMMEDIATE; ROLLBACK')
  raw.close()
  const { store } = await openStore(t, { dataDir })
  t.equal((await store.accounts.list()).length, 1)
})

t.test('a file that is taken back while it is opened is made again', async t => {
  const dataDir = join(t.testdir(), 'data')
  mkdirSync(dataDir)
  const file = join(dataDir, 'accounts.db')
  const other = new DatabaseSync(file)
  other.exec('PRAGMA journal_mode = WAL; BEGIN IMMEDIATE; CREATE TABLE other (id)')
  const opening = open(dataDir)
  for (const name of ['accounts.db-wal', 'accounts.db-shm', 'accounts.db']) rmSync(join(dataDir, name))
  other.exec('ROLLBACK')
  other.close()
  const store = await opening
  await store.accounts.create({ name: 'acme', plan: 'paid' })
  store.close()
  const again = await open(dataDir)
  t.equal((await again.accounts.list()).length, 1)
  again.close()
})
