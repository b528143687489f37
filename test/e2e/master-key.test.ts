/** The master key is replaced while the gateway runs, whoever is killed meanwhile. */
import { randomBytes, randomInt } from 'node:crypto'
import { chmodSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import t, { type Test } from 'tap'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { Access } from '../support/access.ts'
import { Child, cleanEnvironment } from '../support/child.ts'
import { run, runJson, runProcess } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway, startGateway } from '../support/gateway.ts'
import type { Gateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { Random } from '../support/random.ts'
import { startNode } from '../support/scripted-node.ts'

/** With one worker; half as many with two. */
const KILLS = Number(process.env['KILLS'] ?? 10)
const ENDPOINTS = 60
/** Others with as many endpoints, whose keys are counted only. */
const ACCOUNTS = 15
const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"')).on('eth_newBlockFilter', result('"0x7"'))
node.on('eth_getFilterChanges', result('[]'))

const methods = `${fewMethods}    eth_newBlockFilter: { params: [0, 0], sticky: create }
    eth_getFilterChanges: { params: [1, 1], sticky: use }
`

const config = (workers: number) => ({
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods,
  gateway: { workers, timeouts: { drain: '2s', drainIdle: '1s' } },
})

/** Accounts with many endpoints, every other one with an old key that still works. */
async function many(gateway: Gateway): Promise<Access[]> {
  const first = await createAccess(gateway, 'paid', 'alpha')
  const made = await withAccounts(gateway, async store => {
    const keys: [string, string][] = []
    for (let n = 0; n < ENDPOINTS; n += 1) {
      const endpoint = await store.endpoints.create({ accountId: first.accountId, network: 'alpha' })
      if (typeof endpoint === 'string') throw new Error(endpoint)
      keys.push([endpoint.apiKey, endpoint.id])
      if (n % 2 === 0) await store.endpoints.rotateKey(null, endpoint.id, 86_400)
    }
    for (let n = 0; n < ACCOUNTS; n += 1) {
      const { account } = await store.accounts.create({ name: 'other', plan: 'paid' })
      for (let m = 0; m < ENDPOINTS; m += 1)
        await store.endpoints.create({ accountId: account.id, network: 'alpha' })
    }
    return keys
  })
  return [first, ...made.map(([key, id]) => new Access(gateway, 'alpha', key, id, first.accountId))]
}

/** Every key serves a call, and is shown again. */
async function allOpen(t: Test, accesses: readonly Access[]): Promise<void> {
  const replies = await Promise.all(accesses.map(access => access.call('eth_gasPrice')))
  t.strictSame(
    replies.filter(reply => reply.result !== '0x1'),
    [],
    'every key works',
  )
  const reply = await accesses[0]!.manage('service_listEndpoints')
  t.equal(reply.result?.total, accesses.length, 'every seal opens')
  const others = await withAccounts(accesses[0]!.gateway, async store => {
    const lists = (await store.accounts.named('other')).map(async id => store.endpoints.list(id))
    return (await Promise.all(lists)).flat()
  })
  t.equal(new Set(others.map(({ apiKey }) => apiKey)).size, ACCOUNTS * ENDPOINTS)
}

for (const workers of [1, 2])
  t.test(`kill -9 at any moment of a rotation, ${workers} worker(s)`, async t => {
    const gateway = await startGateway(t, config(workers))
    const accesses = await many(gateway)
    const seed = randomInt(2 ** 32)
    t.comment(`seed ${seed}`)
    const random = new Random(seed)
    const key = () => readFileSync(join(gateway.dir, 'data', 'master.key'), 'utf8')
    const begin = performance.now()
    t.equal((await runProcess(['master-key', 'rotate', '--config', gateway.dir])).code, 0)
    let midway = 0
    const whole = performance.now() - begin
    for (let kill = 0; kill < (workers === 1 ? KILLS : KILLS / 2); kill += 1) {
      const load = calling(accesses)
      const command = new Child(
        nodeFile,
        [mainFile, 'master-key', 'rotate', '--config', gateway.dir],
        cleanEnvironment({}),
      )
      await pause(whole * (0.5 + random.below(600) / 1000))
      await command.stop('SIGKILL').catch(() => undefined)
      t.strictSame(await load(), [], 'no call has failed until then')
      await gateway.kill9()
      await pause(workers === 1 ? 0 : 500)
      midway +=
        (await withAccounts(gateway, store => Promise.resolve(store.rotation.underWay))) === null ? 0 : 1
      await gateway.start()
      await allOpen(t, accesses)
    }
    t.comment(`${midway} of them killed between its first and its last commit`)
    // The last kill may have left one that has its key already, and is only brought to its end.
    t.equal((await run(['master-key', 'rotate', '--config', gateway.dir])).code, 0)
    const before = key()
    const { code, stdout, stderr } = await run(['master-key', 'rotate', '--config', gateway.dir])
    t.equal(code, 0, stderr)
    t.match(stdout, /everything is sealed by the new key [0-9a-f]{16}, which is in /)
    t.not(key(), before)
    await allOpen(t, accesses)
    await gateway.stop()
    await gateway.start()
    await allOpen(t, accesses)
    const trail = await runJson(gateway.dir, ['audit'])
    t.match(trail[0], { actor: 'cli', action: 'master_key.rotated' })
  })

/** Calls of every kind until it is called: then it resolves to what was answered otherwise than it should. */
function calling(accesses: readonly Access[]): () => Promise<readonly unknown[]> {
  const state = { isOver: false }
  const failures: unknown[] = []
  const own = accesses[0]!
  const loop = async (call: () => Promise<unknown>): Promise<void> => {
    while (!state.isOver) {
      await call().catch((error: unknown) => failures.push(String(error)))
      await pause(5)
    }
  }
  let at = 0
  const works = [
    loop(async () => {
      const reply = await accesses[(at += 1) % accesses.length]!.call('eth_gasPrice')
      if (reply.result !== '0x1') failures.push(reply)
    }),
    loop(async () => {
      const reply = await own.manage('service_listEndpoints')
      if (reply.result?.total !== accesses.length) failures.push(reply)
      await pause(50)
    }),
    loop(async () => {
      const { result: id } = await own.call('eth_newBlockFilter')
      await pause(20)
      const reply = await own.call('eth_getFilterChanges', [id])
      if (reply.result === undefined) failures.push(reply)
    }),
  ]
  return async () => {
    state.isOver = true
    await Promise.all(works)
    return failures
  }
}

t.test('filters that clients hold go on over a rotation and a restart', async t => {
  const gateway = await startGateway(t, config(1))
  const access = await createAccess(gateway, 'paid', 'alpha')
  const { result: id } = await access.call('eth_newBlockFilter')
  t.equal((await run(['master-key', 'rotate', '--config', gateway.dir])).code, 0)
  t.strictSame((await access.call('eth_getFilterChanges', [id])).result, [])
  await gateway.stop()
  await gateway.start()
  t.strictSame((await access.call('eth_getFilterChanges', [id])).result, [])
})

t.test(
  'a key of the environment is replaced in three steps, and both open everything until the last',
  async t => {
    const [old, next] = [randomBytes(32), randomBytes(32)].map(bytes => bytes.toString('base64'))
    const gateway = await prepareGateway(t, config(1), { env: { TOLLGATE_MASTER_KEY: old! } })
    await gateway.start()
    const file = join(gateway.dir, 'next.key')
    writeFileSync(file, `${next}\n`)
    const rotate = (env: Record<string, string>, ...more: string[]) =>
      run(['master-key', 'rotate', '--config', gateway.dir, ...more], env)
    const [before, after] = [{ TOLLGATE_MASTER_KEY: old! }, { TOLLGATE_MASTER_KEY: next! }]
    const created = await runJson(
      gateway.dir,
      ['account', 'create', 'a', '--plan', 'paid', '--chain', 'alpha'],
      before,
    )
    const access = new Access(gateway, 'alpha', created.endpoint.apiKey)
    t.match(await rotate(before), { code: 1, stderr: /name a file for the new one with --to FILE/ })
    chmodSync(file, 0o644)
    t.match(await rotate(before, '--to', file), { code: 1, stderr: /next\.key is open to everybody/ })
    chmodSync(file, 0o440)
    t.match(await rotate(before, '--to', file), {
      code: 1,
      stdout: /^values sealed by the new key [0-9a-f]{16}: 1$/m,
      stderr:
        /the old key [0-9a-f]{16} is still needed: put the new one where TOLLGATE_MASTER_KEY has the old one/,
    })
    const opens = async (env: Record<string, string>): Promise<void> => {
      const listed = await runJson(gateway.dir, ['endpoint', 'list', '--account', created.accountId], env)
      t.ok(JSON.stringify(listed).includes(created.endpoint.apiKey))
      t.equal((await access.manage('service_listEndpoints')).result.total, 1)
    }
    await opens(before)
    await opens(after)
    t.match(await rotate(after), { code: 1, stderr: /was started with the old one: restart it/ })
    await gateway.stop()
    t.match(await rotate({ TOLLGATE_MASTER_KEY_FILE: file }), {
      code: 0,
      stdout: /the old key [0-9a-f]{16} opens nothing/,
    })
    t.match(await rotate(before), { code: 1, stderr: /the master key does not open accounts\.db/ })
    t.match(await rotate(after, '--to', file), { code: 0, stdout: /nothing is to be done/ })
    t.match(await rotate({ ...after, TOLLGATE_MASTER_KEY_FILE: file }), {
      code: 1,
      stderr: /set one of them/,
    })
    t.match(
      await run(['check', '--data', '--config', gateway.dir], { ...after, TOLLGATE_MASTER_KEY_FILE: file }),
      {
        code: 1,
        stdout: /both TOLLGATE_MASTER_KEY and TOLLGATE_MASTER_KEY_FILE are set: set one of them/,
      },
    )
  },
)
