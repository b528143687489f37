/** What a running gateway serves, and from where, decides what commands change: an edit that it has not taken does not. */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { cleanEnvironment } from '../support/child.ts'
import { createAccount, run, runJson, type CreatedAccount } from '../support/cli.ts'
import { writeConfig, type ConfigOptions } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { serve, startGateway, type Gateway } from '../support/gateway.ts'
import { program } from '../support/paths.ts'
import { startNode } from '../support/scripted-node.ts'
import { tempDir } from '../support/temp-dir.ts'

const node = await startNode(t, { chainId: 1001 })

function configOf(slugs: readonly string[], gateway: Record<string, unknown>): ConfigOptions {
  return {
    networks: Object.fromEntries(slugs.map(slug => [slug, { chainId: 1001 }])),
    methods: fewMethods,
    routes: slugs.map(network => ({ id: `${network}-a`, network, http: node.url })),
    gateway,
  }
}

/** What every command of `args` answers on `dir`. */
async function outcome(dir: string, args: readonly string[], env: Record<string, string> = {}) {
  const { code, stdout, stderr } = await run([...args, '--config', dir], env)
  return { code, stdout, stderr }
}

/** What changes the accounts of a data directory. */
const writing = ({ accountId, endpoint }: CreatedAccount): string[][] => [
  ['account', 'create', 'other', '--plan', 'paid'],
  ['account', 'set-plan', accountId, 'free'],
  ['account', 'suspend', accountId],
  ['account', 'resume', accountId],
  ['account', 'rotate-token', accountId],
  ['endpoint', 'create', '--account', accountId, '--chain', 'alpha'],
  ['endpoint', 'deactivate', endpoint.endpointId],
  ['endpoint', 'delete', endpoint.endpointId],
  ['endpoint', 'move', '--from', 'alpha', '--to', 'beta'],
]

const reading = ({ accountId }: CreatedAccount): string[][] => [
  ['account', 'list'],
  ['endpoint', 'list', '--account', accountId],
  ['usage'],
  ['explain', 'alpha', 'web3_sha3'],
]

/** Accounts and endpoints as they are listed, to see that nothing was changed. */
async function listed(dir: string, { accountId }: CreatedAccount, env: Record<string, string> = {}) {
  const accounts: unknown = await runJson(dir, ['account', 'list'], env)
  const endpoints: unknown = await runJson(dir, ['endpoint', 'list', '--account', accountId], env)
  return { accounts, endpoints }
}

t.test('a name that only a refused edit has is refused; one that both have goes on', async t => {
  const gateway = await startGateway(t, configOf(['alpha', 'beta'], {}))
  const { dir } = gateway
  const made = await createAccount(dir, 'paid', 'alpha')
  const { accountId } = made
  const probes = new URL(node.url).host // taken, so the edit is valid and refused
  const edited = configOf(['alpha', 'beta', 'newnet'], { probes })
  await writeConfig(dir, { ...edited, plans: { gold: { tiers: ['any'] } } })
  t.match(await outcome(dir, ['check']), { code: 0 })
  t.match(await outcome(dir, ['reload']), { code: 1 })
  const before = await listed(dir, made)
  const network = `tollgate: the running gateway does not serve "newnet" yet; see ${program} reload --config ${dir}\n`
  const plan = `tollgate: the running gateway does not have the plan "gold" yet; see ${program} reload --config ${dir}\n`
  for (const [args, why] of [
    [['account', 'set-plan', accountId, 'gold'], plan],
    [['account', 'create', 'acme', '--plan', 'gold'], plan],
    [['account', 'create', 'acme', '--plan', 'paid', '--chain', 'newnet'], network],
    [['endpoint', 'create', '--account', accountId, '--chain', 'newnet'], network],
    [['endpoint', 'move', '--from', 'alpha', '--to', 'newnet'], network],
    [['explain', 'newnet', 'web3_sha3'], network],
  ] as const) {
    const { code, stdout, stderr } = await outcome(dir, args)
    t.strictSame([code, stdout], [1, ''], args.join(' '))
    t.ok(stderr.endsWith(why), stderr)
  }
  t.match(await outcome(dir, ['account', 'set-plan', accountId, 'glod']), {
    code: 1,
    stderr: /there is no plan "glod"/,
  })
  t.strictSame(await listed(dir, made), before)

  t.match(await outcome(dir, ['account', 'set-plan', accountId, 'free']), { code: 0 })
  t.match(await outcome(dir, ['endpoint', 'move', '--from', 'alpha', '--to', 'beta']), { code: 0 })
  await gateway.stop()
  t.match(await outcome(dir, ['account', 'set-plan', accountId, 'gold']), { code: 0 }, 'the YAML decides now')
  t.match(await outcome(dir, ['endpoint', 'move', '--from', 'beta', '--to', 'newnet']), { code: 0 })
})

t.test("another configuration does not change a running gateway's accounts", async t => {
  const gateway = await startGateway(t, configOf(['alpha', 'beta'], {}))
  const made = await createAccount(gateway.dir, 'paid', 'alpha')
  const other = await tempDir(t)
  const dataDir = join(gateway.dir, 'data')
  await writeConfig(other, configOf(['alpha', 'beta'], { dataDir }))
  const why = `the gateway on the data directory ${dataDir} (process ${gateway.pid}) serves the configuration directory ${gateway.dir}, not ${other}`
  const before = await listed(gateway.dir, made)
  for (const args of writing(made)) {
    const { code, stdout, stderr } = await outcome(other, args)
    t.strictSame([code, stdout], [1, ''], args.join(' '))
    t.equal(stderr, `tollgate: ${why}; name that one with --config\n`)
  }
  t.strictSame(await listed(gateway.dir, made), before)
  for (const args of reading(made)) {
    const { code, stderr } = await outcome(other, args)
    t.equal(code, 0, args.join(' '))
    t.ok(stderr.includes(`tollgate: warning: ${why}\n`), stderr)
  }
  await gateway.stop()
  t.match(await outcome(other, ['account', 'suspend', made.accountId]), { code: 0 })
})

interface Moved {
  readonly gateway: Gateway
  readonly second: string
  readonly made: CreatedAccount
  readonly edit: (dataDir: string) => Promise<void>
}

/** A gateway on ./data, whose configuration names a second directory, with an account in it, since it was started. */
async function movedData(t: Test): Promise<Moved> {
  const second = await tempDir(t)
  const admin = `127.0.0.1:${await freePort()}`
  const edit = (dataDir: string, to = gateway.dir): Promise<void> =>
    writeConfig(to, configOf(['alpha', 'beta'], { admin, dataDir }))
  const gateway = await startGateway(t, configOf(['alpha', 'beta'], { admin, dataDir: './data' }))
  const scratch = await tempDir(t)
  await writeConfig(scratch, configOf(['alpha', 'beta'], { dataDir: second }))
  const made = await createAccount(scratch, 'paid', 'alpha')
  rmSync(scratch, { recursive: true })
  await edit(second)
  return { gateway, second, made, edit }
}

t.test('a data directory that the running gateway does not use is not changed by the way', async t => {
  const { gateway, second, made } = await movedData(t)
  const { dir, pid } = gateway
  const before = await listed(dir, made)
  const uses = `the gateway that serves this configuration (process ${pid}) uses ${join(dir, 'data')}, and dataDir in gateway.yaml is ${second}; restart it or undo the edit`
  for (const args of writing(made)) {
    const { code, stdout, stderr } = await outcome(dir, args)
    t.strictSame([code, stdout], [1, ''], args.join(' '))
    t.equal(stderr, `tollgate: ${second} is not the running gateway's data: ${uses}\n`)
  }
  t.strictSame(await listed(dir, made), before)
  const warning = `tollgate: warning: this is not the running gateway's data: ${uses}\n`
  for (const args of [['account', 'list'], ['usage']]) {
    const { code, stderr } = await outcome(dir, args)
    t.strictSame([code, stderr], [0, `tollgate: data directory ${second}\n${warning}`], args.join(' '))
  }
  const meant = await outcome(dir, ['account', 'suspend', made.accountId], { TOLLGATE_DATA: second })
  t.match(meant, { code: 0, stderr: warning })
  const elsewhere = await outcome(dir, ['account', 'resume', made.accountId], { TOLLGATE_DATA: dir })
  t.equal(elsewhere.code, 1, 'another directory is not that one')
  await gateway.stop()
  t.match(await outcome(dir, ['account', 'resume', made.accountId]), { code: 0 })
})

t.test('of two gateways of one configuration the one on the data directory decides', async t => {
  const [first, second] = [await tempDir(t), await tempDir(t)]
  const addresses = [`127.0.0.1:${await freePort()}`, `127.0.0.1:${await freePort()}`] as const
  const written = { admin: '${ADMIN_OF_IT}', dataDir: '${DATA_OF_IT}' }
  const [a, b] = [
    { ADMIN_OF_IT: addresses[0], DATA_OF_IT: first },
    { ADMIN_OF_IT: addresses[1], DATA_OF_IT: second },
  ]
  const gateway = await startGateway(t, configOf(['alpha'], written), { env: a })
  const child = serve(gateway.dir, cleanEnvironment(b))
  t.teardown(() => child.stop('SIGTERM'))
  await child.output('ready', ({ stdout }) => (stdout.includes('"msg":"ready"') ? true : undefined))
  const there = await run(['account', 'create', 'acme', '--plan', 'paid', '--config', gateway.dir], {
    ...a,
    DATA_OF_IT: second,
  })
  t.strictSame([there.code, there.stderr], [0, `tollgate: data directory ${second}\n`])
})
