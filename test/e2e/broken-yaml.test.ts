/** Commands while somebody has broken a YAML file: accounts are managed all the same, and the running gateway says what is served. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { message } from '../support/access.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { writeConfig, type ConfigOptions } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { startGateway } from '../support/gateway.ts'
import { program } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const config: ConfigOptions = {
  networks: { alpha: { chainId: 1001 }, beta: { chainId: 1001 } },
  methods: fewMethods,
  routes: ['alpha', 'beta'].map(network => ({ id: `${network}-a`, network, http: node.url })),
}
const gateway = await startGateway(t, config)
const { dir } = gateway
const access = await createAccess(gateway, 'paid', 'alpha')
const { accountId, endpointId } = access
await access.call('web3_sha3', ['0x00'])
const body = message('web3_sha3', ['0x00'])

writeFileSync(join(dir, 'methods.yaml'), 'families: [')
writeFileSync(join(dir, 'plans.yaml'), 'plnas: {}\n')

const tollgate = (...args: string[]) => run([...args, '--config', dir])
const outcome = async (ended: ReturnType<typeof run>) => {
  const { code, stderr } = await ended
  return { code, stderr }
}
const THERE = `tollgate: data directory ${join(dir, 'data')}\n`
const ASKED = `tollgate: warning: the YAML has errors ("${program} check --config ${dir}" lists them); the running gateway says what is served\n`
const UNKNOWN = `tollgate: warning: the YAML has errors ("${program} check --config ${dir}" lists them) and no gateway runs on it: networks and URLs are not known\n`

/** What needs the data directory alone. */
const managing: string[][] = [
  ['account', 'list'],
  ['account', 'suspend', accountId],
  ['account', 'resume', accountId],
  ['account', 'rotate-token', accountId],
  ['usage'],
  ['usage', '--account', accountId, '--csv'],
]
/** What shows URLs besides. */
const showing: string[][] = [
  ['endpoint', 'deactivate', endpointId],
  ['endpoint', 'activate', endpointId],
  ['endpoint', 'list', '--account', accountId],
]

t.test('what only manages goes on without a word', async t => {
  for (const args of managing) {
    const { code, stderr } = await tollgate(...args)
    t.strictSame([code, stderr], [0, THERE], args.join(' '))
  }
  t.match((await tollgate('usage')).stdout, /web3_sha3/)
})

t.test('an account is suspended in the running gateway', async () => {
  await tollgate('account', 'suspend', accountId)
  await until('it is refused', async () => (await access.post(body)).status === 403)
  await tollgate('account', 'resume', accountId)
  await until('it is served', async () => (await access.post(body)).status === 200)
})

t.test('the running gateway says what is served', async t => {
  for (const args of showing) {
    const { code, stderr } = await tollgate(...args)
    t.strictSame([code, stderr], [0, THERE + ASKED], args.join(' '))
  }
  const { stdout } = await tollgate('endpoint', 'list', '--account', accountId)
  t.match(stdout, `http://alpha-rpc.example.test/v1/rpc/${access.key}`)
  t.match(stdout, / active /)
  const changes: [args: string[], told: RegExp][] = [
    [['account', 'set-plan', accountId, 'free'], /plan free/],
    [['account', 'create', 'other', '--plan', 'paid', '--chain', 'beta'], /http:\/\/beta-rpc\.example\.test/],
    [['endpoint', 'create', '--account', accountId, '--chain', 'beta'], /http:\/\/beta-rpc\.example\.test/],
    [['endpoint', 'move', '--from', 'beta', '--to', 'alpha', '--account', accountId], /1 endpoint of /],
  ]
  for (const [args, told] of changes) {
    const { code, stdout, stderr } = await tollgate(...args)
    t.strictSame([code, stderr], [0, THERE + ASKED], args.join(' '))
    t.match(stdout, told)
  }
  const slips: [args: string[], told: string][] = [
    [['account', 'set-plan', accountId, 'fre'], 'there is no plan "fre"; did you mean "free"?'],
    [
      ['endpoint', 'create', '--account', accountId, '--chain', 'bta'],
      'there is no network "bta"; did you mean "beta"?',
    ],
    [
      ['endpoint', 'move', '--from', 'beta', '--to', 'alhpa'],
      'there is no network "alhpa"; did you mean "alpha"?',
    ],
  ]
  for (const [args, told] of slips) {
    const { code, stderr } = await tollgate(...args)
    t.strictSame([code, stderr], [1, `${THERE}${ASKED}tollgate: ${told}\n`], args.join(' '))
  }
})

t.test('explain asks it too', async t => {
  const { code, stdout, stderr } = await tollgate('explain', 'alpha', 'web3_sha3')
  t.strictSame([code, stderr], [0, ASKED])
  t.match(stdout, /is sent to alpha-a[^]+seen {4}by the running gateway[^]+these files have errors/)
  t.match(await tollgate('explain', 'alhpa', 'web3_sha3'), { code: 1, stderr: /did you mean "alpha"/ })
})

t.test('a gateway.yaml that cannot be read', async t => {
  const admin = `127.0.0.1:${await freePort()}`
  const data = await tempDir(t)
  const dataDir = '${TOLLGATE_DATA:-./data}'
  const gateway = await startGateway(
    t,
    { ...config, gateway: { admin, dataDir } },
    { env: { TOLLGATE_DATA: data } },
  )
  const { accountId } = JSON.parse(
    (
      await run(['account', 'create', 'acme', '--plan', 'paid', '--json', '--config', gateway.dir], {
        TOLLGATE_DATA: data,
      })
    ).stdout,
  ) as { accountId: string }
  const suspend = (env: Record<string, string> = {}) =>
    run(['account', 'suspend', accountId, '--config', gateway.dir], env)
  const there = { code: 0, stderr: `tollgate: data directory ${data}\n` }
  const file = join(gateway.dir, 'gateway.yaml')
  writeFileSync(file, 'listen: [')
  t.strictSame(await outcome(suspend({ TOLLGATE_ADMIN: admin })), there, 'the running gateway knows its data')
  t.strictSame(await outcome(suspend({ TOLLGATE_DATA: data })), there, 'so does the environment')
  t.match(
    await suspend(),
    { code: 1, stderr: /^gateway\.yaml:1:10/ },
    'else its problems are what is to be said',
  )
  writeFileSync(file, `admin: ${admin}\ndataDir: \${NOT_SET}\n`)
  t.strictSame(await outcome(suspend()), there, 'its admin address can be read')
  writeFileSync(file, `admin: ${admin}\nlimits: { bdoy: 1MiB }\ndataDir: ${data}\n`)
  t.strictSame(await outcome(suspend()), there, 'so can the data directory')
})

t.test('without a running gateway what only manages goes on, and what has to know is refused', async t => {
  await gateway.stop()
  for (const args of managing) {
    const { code, stderr } = await tollgate(...args)
    t.strictSame([code, stderr], [0, THERE], args.join(' '))
  }
  for (const args of showing) {
    const { code, stdout, stderr } = await tollgate(...args)
    t.strictSame([code, stderr], [0, THERE + UNKNOWN], args.join(' '))
    t.notMatch(stdout, /removed/)
  }
  for (const args of [
    ['account', 'set-plan', accountId, 'paid'],
    ['account', 'create', 'third', '--plan', 'paid'],
    ['endpoint', 'create', '--account', accountId, '--chain', 'alpha'],
    ['endpoint', 'move', '--from', 'alpha', '--to', 'beta'],
    ['explain', 'alpha', 'web3_sha3'],
  ]) {
    const { code, stdout, stderr } = await tollgate(...args)
    t.strictSame([code, stdout], [1, ''], args.join(' '))
    t.match(stderr, /^methods\.yaml:1:\d+[^]+tollgate: the configuration has \d+ problems\n$/m)
  }
})

t.test('where there is nothing to manage, the problems of the YAML are what is said', async t => {
  const dir = await tempDir(t)
  await writeConfig(dir, config)
  rmSync(join(dir, 'plans.yaml'))
  for (const args of [
    ['account', 'list'],
    ['usage'],
    ['account', 'create', 'acme', '--plan', 'free', '--init'],
  ]) {
    const { code, stderr } = await run([...args, '--config', dir])
    t.strictSame(
      [code, stderr],
      [1, 'plans.yaml:1:1: this file is missing\ntollgate: the configuration has a problem\n'],
      args.join(' '),
    )
  }
})
