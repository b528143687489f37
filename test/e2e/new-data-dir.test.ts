/** A data directory that is made for nothing goes again; one that cannot be made or used is one sentence. */
import { chmodSync, existsSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { once } from 'node:events'
import { createServer, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { runProcess as run, runWithoutRights } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { tempDir } from '../support/temp-dir.ts'

const taken = createServer().listen(0, '127.0.0.1')
await once(taken, 'listening')
t.teardown(() => taken.close())
const busy = `127.0.0.1:${(taken.address() as AddressInfo).port}`

const CREATE = ['account', 'create', 'acme', '--init', '--plan']
/** Commands that are refused, and an environment in which they are. */
const refused: Readonly<Record<string, [args: string[], env: Record<string, string>]>> = {
  'a start on a busy port': [['serve'], {}],
  'an account on a plan that is none': [[...CREATE, 'gold'], {}],
  'an account on a network that is none': [[...CREATE, 'paid', '--chain', 'beta'], {}],
  'a master key that is none': [[...CREATE, 'paid'], { TOLLGATE_MASTER_KEY: 'none' }],
}

async function configured(t: Test, dataDir: string): Promise<string> {
  const dir = await tempDir(t)
  await writeConfig(dir, {
    networks: { alpha: { chainId: 1001 } },
    methods: fewMethods,
    routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
    gateway: { dataDir, listen: busy },
  })
  return dir
}

for (const [name, [args, env]] of Object.entries(refused)) {
  t.test(`${name} leaves no data directory behind`, async t => {
    const dir = await configured(t, './below/data')
    const before = readdirSync(dir)
    const { code, stderr } = await run([...args, '--config', dir], env)
    t.equal(code, 1, stderr)
    t.strictSame(readdirSync(dir), before)
  })

  t.test(`${name} leaves what was there before`, async t => {
    const dir = await configured(t, './below/data')
    mkdirSync(join(dir, 'below'))
    writeFileSync(join(dir, 'below', 'notes'), '')
    const { code } = await run([...args, '--config', dir], env)
    t.equal(code, 1)
    t.strictSame(readdirSync(join(dir, 'below')), ['notes'])
    mkdirSync(join(dir, 'below', 'data'))
    await run([...args, '--config', dir], env)
    t.ok(existsSync(join(dir, 'below', 'data')), 'an empty directory of somebody else')
  })
}

t.test('an account that was made stays, and a start that fails after it takes nothing', async t => {
  const dir = await configured(t, './data')
  t.equal((await run([...CREATE, 'paid', '--config', dir])).code, 0)
  const before = readdirSync(join(dir, 'data'))
  t.match(before, ['accounts.db', 'master.key'])
  t.equal((await run(['serve', '--config', dir])).code, 1)
  t.match(await run(['account', 'list', '--config', dir]), { code: 0, stdout: /acme/ })
})

const sentence = (why: string) => new RegExp(`^tollgate: the data directory \\S+ cannot be ${why}\n$`)

t.test('where the system takes no folder a command ends, in one sentence', async t => {
  const dir = await configured(t, '/proc/tollgate/data')
  for (const args of [['serve'], [...CREATE, 'paid', '--json']]) {
    const { code, stderr } = await run([...args, '--config', dir])
    t.equal(code, 1)
    t.match(stderr, sentence('made: .+'), String(args[0]))
  }
})

t.test('what may not be read or written is one sentence each', async t => {
  const dir = await configured(t, '${DATA}')
  chmodSync(dir, 0o755)
  const closed = join(dir, 'closed')
  mkdirSync(closed, { mode: process.getuid?.() === 0 ? 0o700 : 0 })
  writeFileSync(join(dir, 'file'), '')
  const serve = (data: string, config = dir) =>
    runWithoutRights(['serve', '--config', config], { DATA: data })
  t.match(serve(closed), {
    code: 1,
    stdout: '',
    stderr: sentence('read: permission denied for .+; run it as .+'),
  })
  t.match(serve(join(closed, 'data')), {
    code: 1,
    stderr: sentence('made: permission denied for .+; run it as .+'),
  })
  t.match(serve(join(dir, 'file')), { code: 1, stderr: sentence('read: it is not a directory') })
  t.match(serve('/proc/self/data'), { code: 1, stderr: sentence('made: .+') })
  t.match(serve(closed, closed), {
    code: 1,
    stderr:
      /^\S+closed:1:1: cannot read the configuration directory: permission denied\ntollgate: the configuration has a problem\n$/,
  })
})
