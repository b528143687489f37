import t, { type Test } from 'tap'
import { once } from 'node:events'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { createServer, type AddressInfo } from 'node:net'
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { hasOwnSqlite } from '../../src/stores/sqlite/driver.ts'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { cleanEnvironment } from '../support/child.ts'
import { createAccount, run, runJson } from '../support/cli.ts'
import { writeConfig, type ConfigOptions } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { findReady, prepareGateway, serve, startGateway, type StartOptions } from '../support/gateway.ts'
import { Gate } from '../support/gate.ts'
import { get } from '../support/http.ts'
import { nodeVersion } from '../support/node-line.ts'
import { held, result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { sideBySide } from '../support/side-by-side.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const config: ConfigOptions = {
  networks: { alpha: { chainId: 1001 } },
  methods: fewMethods,
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, capabilities: ['debug'] }],
}
const body = message('web3_sha3', ['0x00'])

/** A directory with the plain configuration, or one that a test spoils. */
async function configured(t: Test, changes: Partial<ConfigOptions> = {}): Promise<string> {
  const dir = await tempDir(t)
  await writeConfig(dir, { ...config, ...changes })
  return dir
}

/** Starts `serve`, which must give up by itself: exit 1, something to read on stderr, no stack trace. */
async function givesUp(t: Test, dir: string, options: StartOptions = {}): Promise<string> {
  const child = serve(dir, cleanEnvironment(options.env))
  t.teardown(() => child.stop('SIGKILL'))
  const ended = await child
    .output('its end', process => (process.gone || findReady(process) ? true : undefined))
    .catch(() => true)
  t.ok(ended)
  if (!child.gone) t.fail('it started')
  t.same(await child.stop('SIGKILL'), { code: 1, signal: null })
  t.match(child.stderr, /\S/, 'it says why on stderr')
  t.notMatch(child.stderr, /\n\s+at .+:\d+:\d+/, 'and shows no stack')
  return child.stderr
}

t.test('broken YAML never starts, and its place is told', async t => {
  const dir = await configured(t)
  await writeFile(
    join(dir, 'routes.yaml'),
    'routes:\n  - id: a\n    network: [alpha\n    http: http://127.0.0.1:1\n',
  )
  t.match(await givesUp(t, dir), /routes\.yaml:[34]:\d+/)
})

t.test('a wrong value never starts, and its place is told', async t => {
  const dir = await configured(t)
  await writeFile(
    join(dir, 'routes.yaml'),
    'routes:\n  - id: a\n    network: alhpa\n    http: http://127.0.0.1:1\n',
  )
  t.match(await givesUp(t, dir), /routes\.yaml:3:14 routes\[0\]\.network/)
})

t.test('a directory without configuration never starts', async t => {
  t.match(await givesUp(t, await tempDir(t)), /networks\.yaml/)
  t.match(await givesUp(t, join(await tempDir(t), 'nowhere')), /nowhere/)
})

t.test('a port that is taken is named', async t => {
  const holder = createServer().listen(0, '127.0.0.1')
  await once(holder, 'listening')
  t.teardown(() => holder.close())
  const { port } = holder.address() as AddressInfo
  const taken = `127.0.0.1:${port}`
  t.match(await givesUp(t, await configured(t, { gateway: { listen: taken } })), taken)
  t.match(await givesUp(t, await configured(t, { gateway: { admin: taken } })), taken)
})

t.test('a data directory that cannot be one is named', async t => {
  const dir = await configured(t, { gateway: { dataDir: './a-file' } })
  await writeFile(join(dir, 'a-file'), 'x')
  t.match(await givesUp(t, dir), /a-file/)
  t.match(await givesUp(t, await configured(t, { gateway: { dataDir: '/dev/null/below' } })), /\/dev\/null/)
})

t.test('data that is no database is not overwritten', async t => {
  const dir = await configured(t)
  await mkdir(join(dir, 'data'))
  const rubbish = 'this is no database at all, and long enough to be looked at. '.repeat(100)
  await writeFile(join(dir, 'data', 'accounts.db'), rubbish)
  t.match(await givesUp(t, dir), /accounts\.db/)
  t.equal(await readFile(join(dir, 'data', 'accounts.db'), 'utf8'), rubbish)
})

t.test('a gateway whose serve.json cannot be written serves, and says so', async t => {
  const gateway = await prepareGateway(t, config)
  await mkdir(join(gateway.dir, 'data', 'serve.json'), { recursive: true })
  await gateway.start()
  t.match(await gateway.send({ path: '/alpha/v1/rpc/nonsense', body }), { status: 401 })
  t.match(
    gateway.printed,
    /"msg":"[^"]*serve\.json cannot be written \(EISDIR\): explain will not find this gateway"/,
  )
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
})

t.test('a second serve on the same data gives up; the first goes on', async t => {
  const gateway = await startGateway(t, config)
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.match(await givesUp(t, gateway.dir), /data/)
  t.equal((await access.post(body)).status, 200)
  t.same(await gateway.stop(), { code: 0, signal: null })
})

t.test('a wrong master key stops the start with one sentence', async t => {
  const right = randomBytes(32).toString('base64')
  const dir = await configured(t)
  await runJson(dir, ['account', 'create', 'x', '--plan', 'paid', '--init'], { TOLLGATE_MASTER_KEY: right })
  const wrong = randomBytes(32).toString('base64')
  for (const key of [wrong, 'not base64 of 32 bytes', randomBytes(16).toString('base64')]) {
    const said = await givesUp(t, dir, { env: { TOLLGATE_MASTER_KEY: key } })
    t.match(said, /master key/i)
    t.equal(said.trim().split('\n').length, 1, said)
    t.notOk(said.includes(key) || said.includes(right), 'no key is shown')
  }
  const gateway = await prepareGateway(t, config)
  const account = await runJson(gateway.dir, ['account', 'create', 'x', '--plan', 'paid', '--init'])
  await gateway.start()
  t.match(account.endpoint.apiKey, /^tg_/, 'without the variable a key file is made')
  t.equal((await gateway.send({ path: `/alpha/v1/rpc/${account.endpoint.apiKey}`, body })).status, 200)
})

for (const signal of ['SIGTERM', 'SIGINT'] as const) {
  t.test(`${signal} lets calls in flight finish, and exits 0`, async t => {
    const gateway = await startGateway(t, config)
    const access = await createAccess(gateway, 'paid', 'alpha')
    t.equal((await get(`${gateway.adminUrl}/livez`)).status, 200)
    t.equal((await get(`${gateway.adminUrl}/readyz`)).status, 200)
    const gate = new Gate()
    node.on('eth_gasPrice', held(gate, result('"0x1"')))
    const before = node.count('eth_gasPrice')
    const slow = access.post(message('eth_gasPrice'))
    await node.arrived('eth_gasPrice', before + 1)
    gateway.signal(signal)
    await until(
      'it is not ready any more',
      async () => (await get(`${gateway.adminUrl}/readyz`)).status === 503,
    )
    gate.open()
    const reply = await slow
    t.equal(reply.text, '{"jsonrpc":"2.0","id":1,"result":"0x1"}')
    t.equal(reply.headers.connection, 'close')
    t.same(await gateway.exited, { code: 0, signal: null })
    await t.rejects(access.post(body), { code: 'ECONNREFUSED' })
  })
}

t.test('everything that serve prints is JSON by the line', async t => {
  const gateway = await startGateway(t, config)
  const access = await createAccess(gateway, 'paid', 'alpha')
  await access.post(body)
  await access.post('{')
  await gateway.stop()
  for (const line of gateway.printed.trim().split('\n')) t.type(JSON.parse(line), 'object')
})

const wrongUsage: string[][] = [
  ['nope'],
  ['serve', '--nope'],
  ['serve', 'extra'],
  ['check', 'extra'],
  ['explain'],
  ['explain', 'alpha'],
  ['dump', 'extra'],
  ['account'],
  ['account', 'nope'],
  ['account', 'create'],
  ['account', 'create', 'x'],
  ['account', 'set-plan', 'x'],
  ['account', 'suspend'],
  ['endpoint'],
  ['endpoint', 'list'],
  ['endpoint', 'create', '--account', 'x'],
  ['endpoint', 'delete'],
  ['usage', '--by', 'year'],
]
t.test('wrong usage exits 2 and says on stderr what is right', async t => {
  const dir = await configured(t)
  await sideBySide(wrongUsage, async args => {
    const { code, stdout, stderr } = await run([...args, '--config', dir])
    t.equal(code, 2, args.join(' '))
    t.equal(stdout, '')
    t.match(stderr, /\S/)
    t.notMatch(stderr, /\n\s+at .+:\d+:\d+/)
  })
  t.equal((await run([])).code, 2, 'no command at all')
  t.equal((await run(['check', '--config'])).code, 2, 'an option without its value')
})

t.test('what is refused exits 1 and says why on stderr', async t => {
  const dir = await configured(t)
  const { accountId } = await createAccount(dir, 'paid', 'alpha')
  const refusals: string[][] = [
    ['explain', 'nope', 'eth_call'],
    ['account', 'create', 'x', '--plan', 'nope'],
    ['account', 'create', 'x', '--plan', 'paid', '--chain', 'nope'],
    ['account', 'set-plan', accountId, 'nope'],
    ['account', 'set-plan', 'nope', 'paid'],
    ['account', 'suspend', 'nope'],
    ['account', 'resume', 'nope'],
    ['account', 'rotate-token', 'nope'],
    ['endpoint', 'list', '--account', 'nope'],
    ['endpoint', 'create', '--account', accountId, '--chain', 'nope'],
    ['endpoint', 'create', '--account', 'nope', '--chain', 'alpha'],
    ['endpoint', 'activate', 'nope'],
    ['endpoint', 'deactivate', 'nope'],
    ['endpoint', 'delete', 'nope'],
    ['usage', '--account', 'nope'],
  ]
  await sideBySide(refusals, async args => {
    const { code, stderr } = await run([...args, '--config', dir])
    t.equal(code, 1, args.join(' '))
    t.match(stderr, /nope|Invalid chain/)
    t.notMatch(stderr, /\n\s+at .+:\d+:\d+/)
  })
})

t.test('--help of every command exits 0', async t => {
  const commands = ['', 'serve', 'check', 'explain', 'dump', 'account', 'endpoint', 'usage', 'demo']
  await sideBySide(commands, async command => {
    const { code, stdout, stderr } = await run([...(command === '' ? [] : [command]), '--help'])
    t.equal(code, 0, command)
    t.match(stdout, command === '' ? 'tollgate' : command)
    t.equal(stderr, '')
  })
  const { stdout } = await run(['--help'])
  for (const command of commands.slice(1)) t.match(stdout, command)
})

t.test('what commands change takes effect in the running gateway', async t => {
  const gateway = await startGateway(t, config)
  const access = await createAccess(gateway, 'free', 'alpha')
  const tollgate = (...args: string[]) => runJson(gateway.dir, args)
  const paid = message('debug_traceBlockByNumber', ['latest'])
  const statusOf = async () => (await access.post(body)).status
  t.equal((await access.call('debug_traceBlockByNumber', ['latest'])).error.data.reason, 'plan_required')
  await tollgate('account', 'set-plan', access.accountId, 'paid')
  await until('the plan is paid', async () => (await access.post(paid)).text.includes('"result"'))
  await tollgate('account', 'set-plan', access.accountId, 'free')
  await until('the plan is free', async () => (await access.post(paid)).text.includes('plan_required'))
  await tollgate('endpoint', 'deactivate', access.endpointId)
  await until('the endpoint is inactive', async () => (await statusOf()) === 403)
  await tollgate('endpoint', 'activate', access.endpointId)
  await until('the endpoint is active', async () => (await statusOf()) === 200)
  await tollgate('account', 'suspend', access.accountId)
  await until('the account is suspended', async () => (await statusOf()) === 403)
  await tollgate('account', 'resume', access.accountId)
  await until('the account is active', async () => (await statusOf()) === 200)
  const made = await tollgate('endpoint', 'create', '--account', access.accountId, '--chain', 'alpha')
  t.equal((await gateway.send({ path: `/alpha/v1/rpc/${made.apiKey}`, body })).status, 200)
  await tollgate('endpoint', 'delete', access.endpointId)
  await until('the endpoint is gone', async () => (await statusOf()) === 401)
})

t.test('SQLite is that of Node.js from where it is past the experiment', async t => {
  const gateway = await startGateway(t, config)
  const maps = await readFile(`/proc/${gateway.pid}/maps`, 'utf8')
  t.equal(/photostructure.*\.node$/m.test(maps), !hasOwnSqlite(nodeVersion), nodeVersion)
  t.notMatch(gateway.printed, /ExperimentalWarning/)
})
