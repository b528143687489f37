/** What commands say of files that they may not read or write: which one, as whom, and what to do. */
import { spawnSync } from 'node:child_process'
import { chmodSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t from 'tap'
import { run } from '../support/cli.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'

const isRoot = process.getuid?.() === 0
const me = userInfo()
/** Somebody whom modes keep out: root becomes nobody, everybody else keeps himself out. */
const stranger = isRoot ? ['setpriv', '--reuid=65534', '--regid=65534', '--clear-groups'] : []
const name = isRoot ? /\w+ \(uid 65534\)/ : new RegExp(`${me.username} \\(uid ${me.uid}\\)`)
const closed = isRoot ? 0o700 : 0o000
const readOnly = isRoot ? 0o755 : 0o555

const dir = await tempDir(t)
chmodSync(dir, 0o755)
const config = join(dir, 'config')
await run(['init', config, '--network', 'ethereum'])
await run(['account', 'create', 'acme', '--plan', 'free', '--init', '--config', config])
const data = join(config, 'data')
t.teardown(() => {
  for (const path of [data, join(dir, 'mine')]) chmodSync(path, 0o700)
})

/** Runs a command without the test's own environment: what tap has in it writes to folders of ours. */
const asStranger = (args: readonly string[], env: Record<string, string> = {}) => {
  const variables = Object.entries({ PATH: process.env['PATH'] ?? '', ...env }).map(pair => pair.join('='))
  const { status, stdout, stderr } = spawnSync(
    'env',
    ['-i', ...variables, ...stranger, nodeFile, mainFile, ...args],
    { encoding: 'utf8' },
  )
  return { code: status, stdout, stderr }
}

const adviceOn = (owned: string): string =>
  isRoot
    ? `run it as the owner of ${owned} \\(uid ${me.uid}, mode 0[0-7]{3}\\), or give that user access`
    : `the mode of ${owned} is 0[0-7]{3}: chmod u\\+rwx ${owned}`

const denied = (what: string, owned: string): RegExp =>
  new RegExp(
    `^(tollgate: data directory .*\\n)?tollgate: ${what}.*permission denied for ${name.source}; ${adviceOn(owned)}\\n$`,
  )

t.test('a data directory of somebody else', t => {
  chmodSync(data, closed)
  for (const args of [
    ['account', 'list'],
    ['endpoint', 'list', '--account', 'acc_x'],
    ['usage'],
    ['account', 'create', 'other', '--plan', 'free', '--init'],
  ]) {
    const { code, stderr } = asStranger([...args, '--config', config])
    t.equal(code, 1)
    t.match(stderr, denied(`cannot read ${data}/accounts.db`, data), args.join(' '))
  }
  const served = asStranger(['serve', '--config', config], {
    TOLLGATE_LISTEN: '127.0.0.1:0',
    TOLLGATE_ADMIN: '127.0.0.1:0',
  })
  t.equal(served.code, 1)
  t.notMatch(served.stderr, /EACCES: /)
  t.end()
})

t.test('a folder that may not be written', t => {
  const mine = join(dir, 'mine')
  mkdirSync(mine)
  chmodSync(mine, readOnly)
  const init = (path: string) => asStranger(['init', path, '--network', 'ethereum'])
  t.match(init(mine), { code: 1, stderr: denied(`cannot write ${mine}/networks.yaml`, mine) })
  t.match(init(join(mine, 'new')), { code: 1, stderr: denied(`cannot make the folder ${mine}/new`, mine) })
  t.strictSame(readdirSync(mine), [])
  const create = ['account', 'create', 'other', '--plan', 'free', '--init', '--config', config]
  const made = asStranger(create, { TOLLGATE_DATA: join(mine, 'data') })
  t.match(made, { code: 1, stderr: denied(`the data directory ${mine}/data cannot be made`, mine) })
  t.end()
})

t.test('a file where a folder is meant', async t => {
  const file = join(dir, 'file')
  writeFileSync(file, '')
  const list = ['account', 'list', '--config', config]
  const cases: [args: string[], env: Record<string, string>, said: string][] = [
    [
      ['init', file, '--network', 'ethereum'],
      {},
      `cannot make the folder ${file}: a file of that name is there; name another folder`,
    ],
    [
      ['init', join(file, 'x'), '--network', 'ethereum'],
      {},
      `cannot make the folder ${file}/x: ${file} is not a folder; name another one`,
    ],
    [
      list,
      { TOLLGATE_DATA: file },
      `cannot read ${file}/accounts.db: ${file} is not a folder; name another one`,
    ],
    [
      list,
      { TOLLGATE_DATA: join(file, 'x') },
      `cannot read ${file}/x/accounts.db: ${file} is not a folder; name another one`,
    ],
  ]
  for (const [args, env, said] of cases)
    t.match(await run(args, env), { code: 1, stdout: '', stderr: `tollgate: ${said}\n` }, said)
})
