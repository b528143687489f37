import { createSecretKey, randomBytes } from 'node:crypto'
import { chmodSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { inspect } from 'node:util'
import t from 'tap'
import {
  createMasterKey,
  readMasterKey,
  readOrMakeKeyFile,
  replaceMasterKey,
} from '../../../src/stores/sqlite/accounts/secrets/master-key.ts'
import { openAccounts } from '../../../src/stores/sqlite/accounts/store.ts'

const text = randomBytes(32).toString('base64')

t.test('the environment names the key, before any file', t => {
  const dataDir = t.testdir()
  createMasterKey(dataDir)
  const expected = createSecretKey(Buffer.from(text, 'base64'))
  t.ok(readMasterKey(dataDir, { TOLLGATE_MASTER_KEY: text })?.equals(expected))
  t.ok(
    readMasterKey(dataDir, { TOLLGATE_MASTER_KEY: ` ${text}\n` })?.equals(expected),
    'white space around it is cut',
  )
  t.ok(readMasterKey(dataDir, { TOLLGATE_MASTER_KEY: text.replace('=', '') })?.equals(expected), 'no padding')
  t.end()
})

t.test('neither variable nor file is null, and an empty variable counts as none', t => {
  t.equal(readMasterKey(t.testdir(), {}), null)
  t.equal(readMasterKey(t.testdir(), { TOLLGATE_MASTER_KEY: '' }), null)
  t.end()
})

t.test('a created key is for its owner only, and read again', t => {
  const dataDir = t.testdir()
  const created = createMasterKey(dataDir)
  t.equal(statSync(join(dataDir, 'master.key')).mode & 0o777, 0o600)
  t.ok(readMasterKey(dataDir, {})?.equals(created))
  t.strictSame(readdirSync(dataDir), ['master.key'], 'no draft is left')
  t.not(readFileSync(join(dataDir, 'master.key'), 'utf8'), '')
  t.end()
})

t.test('a second creation keeps the first key', t => {
  const dataDir = t.testdir()
  const first = createMasterKey(dataDir)
  t.ok(createMasterKey(dataDir).equals(first))
  t.strictSame(readdirSync(dataDir), ['master.key'])
  t.end()
})

t.test('bug: a killed rotation or first start left copies of the master key for good', async t => {
  const dataDir = t.testdir()
  const open = async () => (await openAccounts({ dataDir, env: {} })).close()
  await open()
  const draft = (name: string) => {
    writeFileSync(join(dataDir, name), `${text}\n`, { mode: 0o600 })
    return name
  }
  const others = [
    draft('master.key.0123456789ab.bak'),
    draft('master.key.old'),
    draft('master.key.0123456789AB'),
    draft('other.key.0123456789ab'),
  ]
  draft('master.key.0123456789ab')
  draft('master.key.ba9876543210')
  const left = () => readdirSync(dataDir).filter(name => name.includes('.key.'))
  await open()
  t.strictSame(left(), [...others].sort())
  draft('master.key.0123456789ab')
  replaceMasterKey(dataDir, createSecretKey(Buffer.from(text, 'base64')))
  t.strictSame(left(), [...others].sort())
  draft('other.key.aaaaaaaaaaaa')
  readOrMakeKeyFile(join(dataDir, 'other.key'))
  t.notOk(left().includes('other.key.aaaaaaaaaaaa'))
})

t.test('a malformed key is one clear sentence, without the key', t => {
  const wrong = [
    'secret',
    text.slice(1),
    `${text}AA`,
    randomBytes(16).toString('base64'),
    `*${text.slice(1)}`,
  ]
  for (const value of wrong) {
    t.throws(() => readMasterKey(t.testdir(), { TOLLGATE_MASTER_KEY: value }), {
      message: 'the master key in TOLLGATE_MASTER_KEY is malformed: it must be 32 bytes in base64',
    })
  }
  const dataDir = t.testdir({ 'master.key': '' })
  chmodSync(join(dataDir, 'master.key'), 0o600)
  t.throws(() => readMasterKey(dataDir, {}), {
    message: /master\.key is malformed: it must be 32 bytes in base64$/,
  })
  t.end()
})

t.test('a key file that others can read is refused', t => {
  for (const mode of [0o640, 0o604, 0o660, 0o644, 0o610]) {
    const dataDir = t.testdir({ 'master.key': text })
    chmodSync(join(dataDir, 'master.key'), mode)
    t.throws(() => readMasterKey(dataDir, {}), {
      message: /is open to others than its owner: chmod 600 \S+master\.key, or set/,
    })
    t.ok(readMasterKey(dataDir, { TOLLGATE_MASTER_KEY: text }), 'unless it is not needed')
  }
  const dataDir = t.testdir()
  writeFileSync(join(dataDir, 'master.key'), text, { mode: 0o400 })
  t.ok(readMasterKey(dataDir, {}), 'read-only for the owner is fine')
  t.end()
})

t.test('a directory in its place, and a directory that is none, are clear sentences', t => {
  t.throws(() => readMasterKey(t.testdir({ 'master.key': {} }), {}), {
    message: /master\.key is not a file$/,
  })
  const file = join(t.testdir({ file: '' }), 'file')
  t.throws(() => readMasterKey(file, {}), { message: /cannot be read: it is not a directory$/ })
  t.throws(() => createMasterKey(file), { message: /cannot be created: it is not a directory$/ })
  t.end()
})

t.test('a key does not show itself when it is printed', t => {
  const key = readMasterKey(t.testdir(), { TOLLGATE_MASTER_KEY: text })
  t.notMatch(inspect(key, { depth: 9, showHidden: true }), text.slice(0, 8))
  t.end()
})

t.test('a mounted secret: a group may read it, everybody may not', t => {
  const dir = t.testdir({ key: text })
  const expected = createSecretKey(Buffer.from(text, 'base64'))
  const file = join(dir, 'key')
  const env = { TOLLGATE_MASTER_KEY_FILE: file }
  for (const mode of [0o400, 0o440, 0o640]) {
    chmodSync(file, mode)
    t.ok(readMasterKey(dir, env)?.equals(expected), mode.toString(8))
  }
  for (const mode of [0o444, 0o604, 0o644]) {
    chmodSync(file, mode)
    t.throws(() => readMasterKey(dir, env), { message: /key is open to everybody: chmod o-rwx / })
  }
  t.throws(() => readMasterKey(dir, { TOLLGATE_MASTER_KEY_FILE: `${file}s` }), {
    message: /keys of TOLLGATE_MASTER_KEY_FILE does not exist$/,
  })
  t.throws(() => readMasterKey(dir, { ...env, TOLLGATE_MASTER_KEY: text }), {
    message: 'both TOLLGATE_MASTER_KEY and TOLLGATE_MASTER_KEY_FILE are set: set one of them',
  })
  t.end()
})
