/** Which data directory a command works on: it says so, makes none by the way, and knows when the running gateway uses another. */
import { existsSync, mkdirSync, readdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { writeConfig, type ConfigOptions } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { program } from '../support/paths.ts'
import { startGateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { tempDir } from '../support/temp-dir.ts'

const node = await startNode(t, { chainId: 1001 })
const config: ConfigOptions = {
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
}
const CREATE = ['account', 'create', 'acme', '--plan', 'paid']

async function configured(t: Test, changes: Partial<ConfigOptions> = {}): Promise<string> {
  const dir = await tempDir(t)
  await writeConfig(dir, { ...config, ...changes })
  return dir
}

/** The command that is proposed: the one that was typed where it makes accounts, and otherwise one that does. */
const hintFor = (args: readonly string[], dir: string) =>
  args === CREATE
    ? `${CREATE.join(' ')} --config ${dir} --init`
    : `account create acme --plan free --init --config ${dir}`

/** What a command says in a place without accounts. */
const noAccounts = (data: string, create: string) =>
  `tollgate: there are no accounts in ${data}: "${program} ${create}" makes them there; if the gateway has TOLLGATE_DATA or TOLLGATE_ADMIN in its environment, run the command with the same\n`

const commands: string[][] = [
  CREATE,
  ['account', 'list'],
  ['account', 'set-plan', 'acc_x', 'paid'],
  ['account', 'suspend', 'acc_x'],
  ['account', 'resume', 'acc_x'],
  ['account', 'rotate-token', 'acc_x'],
  ['endpoint', 'list', '--account', 'acc_x'],
  ['endpoint', 'create', '--account', 'acc_x', '--chain', 'alpha'],
  ['endpoint', 'activate', 'ep_x'],
  ['endpoint', 'delete', 'ep_x'],
  ['endpoint', 'move', '--from', 'old', '--to', 'alpha'],
  ['usage'],
  ['usage', '--account', 'acc_x', '--csv'],
]

t.test('without accounts every command exits 1 with one sentence, and makes nothing', async t => {
  const dir = await configured(t)
  const data = join(dir, 'data')
  const before = readdirSync(dir)
  await sideBySide(commands, async args => {
    const { code, stdout, stderr } = await run([...args, '--config', dir])
    t.strictSame(
      { code, stdout, stderr },
      { code: 1, stdout: '', stderr: noAccounts(data, hintFor(args, dir)) },
      args.join(' '),
    )
  })
  t.strictSame(readdirSync(dir), before)
})

t.test('an empty file, and a link to nowhere, are no accounts; no key is made for them', async t => {
  for (const spoil of [
    (file: string) => {
      writeFileSync(file, '')
    },
    (file: string) => {
      symlinkSync('/nowhere/at/all', file)
    },
  ]) {
    const dir = await configured(t)
    const data = join(dir, 'data')
    mkdirSync(data)
    spoil(join(data, 'accounts.db'))
    const { code, stderr } = await run(['account', 'list', '--config', dir])
    t.strictSame({ code, stderr }, { code: 1, stderr: noAccounts(data, hintFor([], dir)) })
    t.strictSame(readdirSync(data), ['accounts.db'])
  }
})

t.test('a log without its file is told as such, also with --init', async t => {
  const dir = await configured(t)
  mkdirSync(join(dir, 'data'))
  writeFileSync(join(dir, 'data', 'accounts.db-wal'), 'x')
  for (const args of [
    ['account', 'list'],
    [...CREATE, '--init'],
  ]) {
    const { code, stderr } = await run([...args, '--config', dir])
    t.equal(code, 1)
    t.match(stderr, /accounts\.db is missing while \S+accounts\.db-wal holds changes to it/)
  }
  t.strictSame(readdirSync(join(dir, 'data')), ['accounts.db-wal'])
})

t.test(
  '--init makes the place; from then on commands name it, on stderr, and in JSON say nothing',
  async t => {
    const dir = await configured(t)
    const data = join(dir, 'data')
    const made = await run([...CREATE, '--init', '--config', dir])
    t.strictSame([made.code, made.stderr], [0, `tollgate: data directory ${data} (new)\n`])
    t.ok(existsSync(join(data, 'master.key')))
    const again = await run(['account', 'create', 'other', '--plan', 'paid', '--init', '--config', dir])
    t.strictSame(
      [again.code, again.stderr],
      [0, `tollgate: data directory ${data}\n`],
      'a second time is no harm',
    )
    for (const args of [['account', 'list'], ['usage'], ['usage', '--csv']]) {
      const { code, stderr } = await run([...args, '--config', dir])
      t.strictSame([code, stderr], [0, `tollgate: data directory ${data}\n`], args.join(' '))
    }
    const { stdout, stderr } = await run(['account', 'list', '--json', '--config', dir])
    t.equal(JSON.parse(stdout).length, 2)
    t.equal(stderr, '')
  },
)

t.test('usage of an unknown account exits 1; of one that only the ledger knows it is shown', async t => {
  const gateway = await startGateway(t, config)
  const access = await createAccess(gateway, 'paid', 'alpha')
  await access.call('web3_sha3', ['0x00'])
  const usage = (id: string) => run(['usage', '--account', id, '--csv', '--config', gateway.dir])
  t.match(await usage('acc_nobody'), { code: 1, stdout: '', stderr: /there is no account "acc_nobody"/ })
  t.match(await usage(access.accountId), { code: 0, stdout: /web3_sha3,1,1,0,0/ })
  await gateway.stop()
  const data = join(gateway.dir, 'data')
  rmSync(join(data, 'accounts.db'))
  t.match(await run([...CREATE, '--init', '--config', gateway.dir]), {
    code: 1,
    stderr: /accounts\.db is missing while journal\.db is there/,
  })
  renameSync(join(data, 'journal.db'), join(data, 'journal.away'))
  t.equal(
    (await run([...CREATE, '--init', '--config', gateway.dir])).code,
    0,
    'a new file, under the key that is there',
  )
  renameSync(join(data, 'journal.away'), join(data, 'journal.db'))
  t.match(
    await usage(access.accountId),
    { code: 0, stdout: /web3_sha3,1,1,0,0/ },
    'usage outlives its account',
  )
})

t.test("a command knows that the running gateway's data is elsewhere", async t => {
  const elsewhere = await tempDir(t)
  const admin = `127.0.0.1:${await freePort()}`
  const dataDir = '${TOLLGATE_DATA:-./data}'
  const gateway = await startGateway(
    t,
    { ...config, gateway: { admin, dataDir } },
    { env: { TOLLGATE_DATA: elsewhere } },
  )
  const data = join(gateway.dir, 'data')
  const why = `the gateway that serves this configuration (process ${gateway.pid}) uses ${elsewhere}; run the command with its environment`

  for (const args of [
    ['account', 'list'],
    [...CREATE, '--init'],
    ['usage', '--json'],
  ]) {
    const { code, stderr } = await run([...args, '--config', gateway.dir])
    t.strictSame([code, stderr], [1, `tollgate: there are no accounts in ${data}: ${why}\n`], args.join(' '))
  }
  t.notOk(existsSync(data), 'nothing was made')

  const right = await run(['account', 'list', '--config', gateway.dir], { TOLLGATE_DATA: elsewhere })
  t.strictSame([right.code, right.stderr], [0, `tollgate: data directory ${elsewhere}\n`])

  const meant = join(gateway.dir, 'meant')
  const made = await run([...CREATE, '--init', '--config', gateway.dir], { TOLLGATE_DATA: meant })
  t.equal(made.code, 0, 'a directory that is named on purpose may be made')
  t.strictSame(
    made.stderr,
    `tollgate: data directory ${meant} (new)\ntollgate: warning: this is not the running gateway's data: ${why}\n`,
  )
  const there = (args: string[]) => run([...args, '--config', gateway.dir], { TOLLGATE_DATA: meant })
  t.match(await there(['account', 'create', 'other', '--plan', 'paid']), { code: 0 })
  t.equal((await there(['account', 'list', '--json'])).stdout.match(/"acc_/g)?.length, 2)

  const explained = await run(['explain', 'alpha', 'web3_sha3', '--json', '--config', gateway.dir])
  t.match(JSON.parse(explained.stdout), { live: true, outcome: 'forward' }, 'explain asks it all the same')

  const other = await tempDir(t)
  await writeConfig(other, { ...config, gateway: { admin, dataDir } })
  const stranger = await run([...CREATE, '--init', '--config', other])
  t.equal(stranger.code, 0, 'a gateway of another configuration at that address is none of its business')

  await gateway.kill9()
  t.equal((await run([...CREATE, '--init', '--config', gateway.dir])).code, 0)
  await gateway.start()
  const listed = await run(['account', 'list', '--json', '--config', gateway.dir])
  t.equal(listed.code, 0)
  const again = why.replace(/process \d+/, `process ${gateway.pid}`)
  t.equal(listed.stderr, `tollgate: warning: this is not the running gateway's data: ${again}\n`)
})
