/** Files of a data directory that are closed to whoever runs the command: which one, whose it is, as whom, and what to do. */
import { execFileSync } from 'node:child_process'
import { chmodSync, chownSync, cpSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { Child, cleanEnvironment } from '../support/child.ts'
import { runJson, runWithoutRights } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway } from '../support/gateway.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { tempDir } from '../support/temp-dir.ts'

const isRoot = process.getuid?.() === 0
const me = userInfo()
/** Modes do not bind root: the commands run as nobody, who has everything but the file that stays root's. Others keep themselves out. */
const NOBODY = 65534

const gateway = await prepareGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
  methods: fewMethods,
  gateway: { dataDir: '${DATA}', listen: '127.0.0.1:0', admin: '127.0.0.1:0' },
})
const whole = join(gateway.dir, 'whole')
await runJson(gateway.dir, ['account', 'create', 'acme', '--plan', 'paid', '--init'], { DATA: whole })
chmodSync(gateway.dir, 0o755)

/** A copy of the data directory, whose own user is the one that commands run as. */
async function copied(t: Test, from = whole): Promise<string> {
  const above = await tempDir(t)
  chmodSync(above, 0o755)
  const data = join(above, 'data')
  cpSync(from, data, { recursive: true })
  if (isRoot) for (const path of [data, ...filesOf(data)]) chownSync(path, NOBODY, NOBODY)
  return data
}

function filesOf(data: string): string[] {
  return readdirSync(data).map(name => join(data, name))
}

const run = (data: string, ...args: string[]) =>
  runWithoutRights([...args, '--config', gateway.dir], { DATA: data })

const user = isRoot ? /\w+ \(uid 65534\)/.source : `${me.username} \\(uid ${me.uid}\\)`
const advice = (mode: string, file: string): string =>
  isRoot
    ? `run it as its owner \\(uid 0, mode ${mode}\\), or give that user access`
    : `its mode is ${mode}: chmod u\\+rw ${file}`

for (const name of ['accounts.db', 'accounts.db-wal', 'accounts.db-shm', 'journal.db', 'journal.db-wal'])
  t.test(`${name} that is closed is named by a start and by check --data`, async t => {
    const data = await copied(t)
    const file = join(data, name)
    if (!filesOf(data).includes(file)) writeFileSync(file, '')
    chownSync(file, me.uid, me.gid)
    chmodSync(file, 0o400)
    const sentence = `${file} cannot be opened for writing: permission denied for ${user}; ${advice('0400', file)}`
    const started = run(data, 'serve')
    t.equal(started.code, 1)
    t.match(started.stderr, new RegExp(`^tollgate: ${sentence}$`, 'm'))
    const checked = run(data, 'check', '--data')
    t.equal(checked.code, 1)
    t.match(checked.stdout, new RegExp(` dataDir: ${sentence}$`, 'm'))
  })

/** What a killed gateway leaves: its databases with their logs. */
const killed = await (async () => {
  const data = join(gateway.dir, 'killed')
  cpSync(whole, data, { recursive: true })
  const child = new Child(
    nodeFile,
    [mainFile, 'serve', '--config', gateway.dir],
    cleanEnvironment({ DATA: data }),
  )
  await child.output('ready', () => child.stdout.split('\n').find(line => line.includes('"ready"')))
  await child.stop('SIGKILL')
  return data
})()

for (const [name, command] of [
  ['accounts.db-wal', ['account', 'list']],
  ['accounts.db-shm', ['account', 'list']],
  ['accounts.db-wal', ['serve']],
  ['journal.db-wal', ['serve']],
  ['journal.db-shm', ['serve']],
] as const)
  t.test(`${command.join(' ')}: ${name} that a crash left, closed to its own owner, is named`, async t => {
    const data = await copied(t, killed)
    const file = join(data, name)
    t.ok(filesOf(data).includes(file))
    chmodSync(file, 0o400)
    const { code, stderr } = run(data, ...command)
    t.equal(code, 1)
    const sentence = `${file} cannot be opened for writing: permission denied for ${user}; its mode is 0400: chmod u\\+rw ${file}`
    t.match(stderr, new RegExp(`^tollgate: ${sentence}$`, 'm'))
  })

t.test('a master key that is closed says so as other files do', async t => {
  const data = await copied(t)
  const file = join(data, 'master.key')
  chownSync(file, me.uid, me.gid)
  chmodSync(file, isRoot ? 0o400 : 0)
  const mode = isRoot ? '0400' : '0000'
  const sentence = `the master key file ${file} cannot be read: permission denied for ${user}; ${advice(mode, file)}`
  for (const args of [['serve'], ['account', 'list']]) {
    const { code, stderr } = run(data, ...args)
    t.equal(code, 1)
    t.match(stderr, new RegExp(`^tollgate: ${sentence}$`, 'm'), args.join(' '))
  }
})

t.test('what hints say to run can be pasted, whatever a path has in it', async t => {
  const data = join(await copied(t), "it's mine")
  const above = join(data, '..')
  mkdirSync(data)
  for (const name of ['accounts.db', 'master.key']) cpSync(join(above, name), join(data, name))
  for (const path of [data, ...filesOf(data)]) if (isRoot) chownSync(path, NOBODY, NOBODY)
  const pasted = /^tollgate: .*: (chmod .*?)(, or .*)?$/m
  for (const [name, mode] of [
    ['master.key', 0o644],
    ['master.key', 0],
    ['accounts.db', 0o400],
  ] as const) {
    chmodSync(join(data, name), mode)
    const { code, stderr } = run(data, 'account', 'list')
    t.equal(code, 1)
    const hint = pasted.exec(stderr)?.[1]
    if (hint === undefined) return void t.fail(stderr)
    execFileSync('sh', ['-c', hint])
    t.equal(statSync(join(data, name)).mode & 0o777, 0o600, hint)
  }
})

t.test('check --data of a data directory of somebody else', async t => {
  const data = await copied(t)
  for (const path of [...filesOf(data), data]) {
    chownSync(path, me.uid, me.gid)
    chmodSync(path, isRoot ? 0o700 : 0)
  }
  const closed = run(data, 'check', '--data')
  t.equal(closed.code, 1)
  const denied = `permission denied for ${user}; `
  t.match(
    closed.stdout,
    new RegExp(` dataDir: the data directory ${data} cannot be read: ${denied}.*${isRoot ? '0700' : '0000'}`),
  )
  chmodSync(data, 0o755)
  const [mode, asked] = isRoot ? ['0700', 0o700] : ['0000', 0]
  chmodSync(join(data, 'accounts.db'), asked)
  const open = run(data, 'check', '--data')
  t.equal(open.code, 1)
  t.match(open.stdout, isRoot ? 'cannot be written: permission denied' : `accounts.db.*mode is ${mode}`)
})
