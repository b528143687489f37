/** Which gateway `tollgate reload` and `check --data` speak of, and what they say where it is another one or cannot be found. */
import { chmodSync, symlinkSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { parse, stringify } from 'yaml'
import { run, runWithoutRights } from '../support/cli.ts'
import { writeConfig, type ConfigOptions } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway, type Gateway } from '../support/gateway.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const config: ConfigOptions = {
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
}

const edit = async (dir: string, file: string, change: (document: any) => void): Promise<void> => {
  const document = parse(await readFile(join(dir, file), 'utf8'))
  change(document)
  await writeFile(join(dir, file), stringify(document))
}

/** A gateway whose addresses are known before it starts. */
async function addressed(t: Test): Promise<{ gateway: Gateway; listen: string; admin: string }> {
  const [listen, admin] = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`]
  return { gateway: await startGateway(t, { ...config, gateway: { listen, admin } }), listen, admin }
}

t.test('a gateway on the same data with another configuration is not the one that is meant', async t => {
  const gateway = await startGateway(t, config)
  const dir = await tempDir(t)
  const data = join(gateway.dir, 'data')
  await writeConfig(dir, { ...config, gateway: { dataDir: data } })
  const reload = await run(['reload', '--config', dir])
  t.strictSame(reload, {
    code: 1,
    stdout: '',
    stderr: `tollgate: the gateway on the data directory ${data} (process ${gateway.pid}) serves the configuration directory ${gateway.dir}, not ${dir}\n`,
  })
  const using = new RegExp(`another tollgate serve is using ${data}$`, 'm')
  t.match(await run(['check', '--data', '--config', dir]), { code: 1, stdout: using })
  t.match(await run(['serve', '--config', dir]), { code: 1, stderr: using })
})

t.test('a link to its configuration is as good as the directory itself', async t => {
  const gateway = await startGateway(t, config)
  const link = join(await tempDir(t), 'link')
  symlinkSync(gateway.dir, link)
  t.match(await run(['reload', '--config', link]), { code: 0, stdout: /^nothing changed/m })
  t.equal((await run(['check', '--data', '--config', link])).code, 0)
})

t.test('what is already served is told with its version, and when and how it was taken', async t => {
  const gateway = await startGateway(t, config)
  const version = async () => String((await gateway.status()).version)
  const reload = () => run(['reload', '--config', gateway.dir])
  const first = await version()
  const since = (one: string, how: string) =>
    new RegExp(`^nothing changed: version ${one} is already served, taken ${how} \\d+ s ago$`, 'm')
  t.match(await reload(), { code: 0, stdout: since(first, 'at the start') })
  await edit(gateway.dir, 'plans.yaml', ({ plans }) => (plans.paid.maxBatch = 7))
  const second = await until('the watcher has taken it', async () => {
    const now = await version()
    return now !== first && now
  })
  t.match(await reload(), { code: 0, stdout: since(second, 'by the file watcher') })
  const { stdout } = await run(['reload', '--json', '--config', gateway.dir])
  t.match(JSON.parse(stdout), {
    ok: true,
    version: second,
    changes: [],
    taken: { by: 'watcher', at: Number },
  })
})

t.test('an edit of the data directory, or of the admin address, is told as one that waits', async t => {
  const { gateway, admin } = await addressed(t)
  await edit(gateway.dir, 'gateway.yaml', file => (file.dataDir = './other'))
  const moved = await run(['reload', '--config', gateway.dir])
  t.match(moved, { code: 0, stdout: /^gateway\.yaml: dataDir: the change takes effect after a restart$/m })
  t.equal((await run(['check', '--data', '--config', gateway.dir])).code, 0)
  await edit(gateway.dir, 'gateway.yaml', file => {
    delete file.dataDir
    file.admin = '127.0.0.1:0'
  })
  const elsewhere = await run(['reload', '--config', gateway.dir])
  t.match(elsewhere, { code: 0, stdout: /^gateway\.yaml: admin: the change takes effect after a restart$/m })
  t.match(await run(['reload', '--config', gateway.dir, '--admin', admin]), { code: 0 })
})

t.test('after an edit of both it is found by the admin address that it has', async t => {
  const { gateway, listen, admin } = await addressed(t)
  await edit(gateway.dir, 'gateway.yaml', file => {
    file.dataDir = './other'
    file.admin = '127.0.0.1:0'
  })
  const lost = await run(['reload', '--config', gateway.dir])
  t.match(lost, { code: 1, stdout: '' })
  t.equal(
    lost.stderr,
    `tollgate: no gateway runs on the data directory ${gateway.dir}/other; one that was started with another dataDir and admin is named with --admin HOST:PORT\n`,
  )
  const taken = await run(['check', '--data', '--config', gateway.dir])
  t.equal(taken.code, 1)
  t.match(
    taken.stdout,
    `listen: cannot listen on ${listen}: the port is in use; if the gateway of this configuration has it, name its admin address: --admin HOST:PORT\n`,
  )
  const check = await run(['check', '--data', '--admin', admin, '--config', gateway.dir])
  t.equal(check.code, 0, check.stdout)
  const reload = await run(['reload', '--admin', admin, '--config', gateway.dir])
  t.match(reload, { code: 0, stdout: /admin, dataDir: the change takes effect after a restart/ })
})

t.test('an address that is none, answers nothing, or serves something else is told', async t => {
  const { gateway, admin } = await addressed(t)
  const dir = await tempDir(t)
  await writeConfig(dir, config)
  const nobody = `127.0.0.1:${await freePort()}`
  for (const command of [['reload'], ['check', '--data']]) {
    const at = (address: string, config: string) => run([...command, '--admin', address, '--config', config])
    t.match(await at('9464', dir), { code: 2, stderr: /--admin must be an address such as 127/ })
    t.match(await at(nobody, dir), { code: 1, stderr: `tollgate: no gateway answers at ${nobody}\n` })
    t.match(await at(admin, dir), {
      code: 1,
      stderr: new RegExp(`serves the configuration directory ${gateway.dir}, not ${dir}\n$`),
    })
  }
  t.match(await run(['check', '--admin', admin, '--config', dir]), {
    code: 2,
    stderr: /--admin goes with --data/,
  })
})

t.test('a user who may not read who is serving is told so', async t => {
  const gateway = await startGateway(t, config)
  if (process.getuid?.() === 0) chmodSync(gateway.dir, 0o755)
  else chmodSync(join(gateway.dir, 'data', 'serve.json'), 0)
  const { code, stderr } = runWithoutRights(['reload', '--config', gateway.dir])
  t.equal(code, 1)
  t.match(
    stderr,
    /^tollgate: \S+serve\.json, which names the running gateway, cannot be read by the user \S.*: permission denied; run the command as the gateway's user\n$/,
  )
})
