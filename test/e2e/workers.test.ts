import t from 'tap'
import { writeFile } from 'node:fs/promises'
import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { message } from '../support/access.ts'
import { createAccess, withAccounts } from '../support/accounts.ts'
import { runProcess } from '../support/cli.ts'
import { writeConfig } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { freePort } from '../support/free-port.ts'
import { Gate } from '../support/gate.ts'
import { startGateway } from '../support/gateway.ts'
import { result } from '../support/node-replies.ts'
import { startNode } from '../support/scripted-node.ts'
import { openClient } from '../support/socket-client.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until } from '../support/until.ts'
import { childrenOf, crewOf, isAlive, kill9 } from '../support/workers.ts'

const WORKERS = 4
const node = await startNode(t, { chainId: 1001 })
node.on('eth_gasPrice', result('"0x1"'))
const config = {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url, ws: node.url.replace('http', 'ws') }],
  methods: `${fewMethods}    eth_call: { params: [1, 4] }\n`,
  plans: {
    slow: {
      tiers: ['any'],
      rate: { perSecond: 50, burst: 100 },
      ws: { connections: 5, subscriptions: 20 },
      maxBatch: 20,
    },
  },
  gateway: { workers: WORKERS, timeouts: { drain: '5s', drainIdle: '500ms' } },
}
const gateway = await startGateway(t, config)

/** Versions by worker, as `/status` tells them. */
async function versions(): Promise<string[]> {
  const { workers } = (await gateway.status()) as { workers: ({ version: string } | null)[] }
  return workers.map(worker => String(worker?.version))
}

t.test('the node sees the probes of one gateway', async t => {
  await crewOf(gateway, WORKERS)
  await gateway.headKnown('alpha')
  t.equal(node.count('eth_chainId'), 1, 'it was asked for its chain once')
})

t.test('every worker knows what the probes have found out', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const heads = await Promise.all(
    Array.from({ length: 40 }, async () => {
      const { networks } = await access.managed('service_networkStatus')
      return networks[0].head as unknown
    }),
  )
  t.strictSame(new Set(heads), new Set([node.head]))
})

t.test('no batch below the rate is refused', async t => {
  const access = await createAccess(gateway, 'slow', 'alpha')
  const batch = `[${Array.from({ length: 20 }, (_, id) => message('eth_gasPrice', [], id)).join()}]`
  for (let i = 0; i < 5; i++) {
    // Each on a connection of its own, to whichever worker takes it: five together are the burst.
    const answers = JSON.parse((await access.post(batch)).text) as { error?: unknown }[]
    t.strictSame(
      answers.filter(({ error }) => error !== undefined),
      [],
      `batch ${i}`,
    )
  }
})

t.test('sockets of an account are counted over all workers', async t => {
  const access = await createAccess(gateway, 'slow', 'alpha')
  const tried = await Promise.all(
    Array.from({ length: 16 }, () =>
      openClient(t, access).then(
        () => 'open',
        () => 'refused',
      ),
    ),
  )
  t.equal(tried.filter(one => one === 'open').length, 5)
})

t.test(
  'a deleted key and a suspended account are refused by all within a second, open sockets included',
  async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    const other = await createAccess(gateway, 'paid', 'alpha')
    const sockets = await Promise.all(Array.from({ length: 8 }, () => openClient(t, access)))
    await withAccounts(gateway, async store => {
      await store.endpoints.remove(access.accountId, access.endpointId)
      await store.accounts.change(other.accountId, { status: 'suspended' })
    })
    const begin = Date.now()
    const codes = await Promise.all(sockets.map(socket => socket.closed))
    t.ok(Date.now() - begin < 2_500, `${Date.now() - begin} ms`)
    t.strictSame(new Set(codes.map(({ code }) => code)), new Set([1008]))
    for (const [way, reason] of [
      [access, 'invalid_key'],
      [other, 'account_suspended'],
    ] as const) {
      const replies = await Promise.all(Array.from({ length: 16 }, () => way.call('eth_gasPrice')))
      t.strictSame(new Set(replies.map(({ error }) => String(error?.data.reason))), new Set([reason]))
    }
  },
)

t.test('a good edit is taken by all, a bad one by none, whoever is killed then', async t => {
  const [before] = await versions()
  t.strictSame(new Set(await versions()).size, 1)
  const plans = join(gateway.dir, 'plans.yaml')
  await writeConfig(gateway.dir, { ...config, plans: { ...config.plans, new: { tiers: ['any'] } } })
  await until('all serve the edit', async () => {
    const now = new Set(await versions())
    return now.size === 1 && !now.has(before!)
  })
  const [good] = await versions()
  t.equal((await gateway.status()).version, good)
  await writeFile(plans, 'plans: nonsense')
  await until('it is rejected', async () => (await gateway.status()).reload.ok === false)
  const { workers } = await crewOf(gateway, WORKERS)
  kill9(workers[0]!)
  await until('the worker is gone', () => Promise.resolve(!isAlive(workers[0]!)))
  await crewOf(gateway, WORKERS)
  t.strictSame(new Set(await versions()), new Set([good]))
  await writeConfig(gateway.dir, config)
  await until('the first is served again', async () =>
    (await versions()).every(version => version === before),
  )
})

t.test('bug: a keeper that was killed beside a broken edit did not come back', async t => {
  const [served] = await versions()
  for (const [file, broken, named] of [
    // Not YAML of ours, and a plan that accounts are on which is no more.
    ['plans.yaml', 'plans: nonsense', /plans/],
    ['plans.yaml', 'plans: { other: { tiers: [any] } }', /slow/],
  ] as const) {
    await writeFile(join(gateway.dir, file), broken)
    await until('it is rejected', async () => (await gateway.status()).reload.ok === false)
    const { keeper, workers } = await crewOf(gateway, WORKERS)
    kill9(keeper)
    await until('the keeper is gone', () => Promise.resolve(!isAlive(keeper)))
    const now = await crewOf(gateway, WORKERS)
    t.not(now.keeper, keeper)
    t.strictSame(new Set(now.workers), new Set(workers), 'the workers stay')
    await until('it says what is wrong', async () => (await gateway.status()).reload.ok === false)
    const { version, reload } = await gateway.status()
    t.equal(version, served)
    t.match(JSON.stringify(reload.problems), named)
    kill9(workers[0]!)
    await until('the worker is gone', () => Promise.resolve(!isAlive(workers[0]!)))
    await crewOf(gateway, WORKERS)
    t.strictSame(new Set(await versions()), new Set([served]), 'a new worker serves the same')
    await writeConfig(gateway.dir, config)
    await until('it is mended', async () => (await gateway.status()).reload.ok === true)
  }
  const access = await createAccess(gateway, 'paid', 'alpha')
  t.equal((await access.call('eth_gasPrice')).result, '0x1')
})

t.test('what keeps one of them from starting is said once, and nothing is left', async t => {
  const dir = await tempDir(t)
  const taken = Number(new URL(gateway.url).port)
  await writeConfig(dir, { ...config, gateway: { ...config.gateway, listen: `127.0.0.1:${taken}` } })
  const { code, stderr } = await runProcess(['serve', '--config', dir])
  t.strictSame([code, stderr], [1, `tollgate: cannot listen on 127.0.0.1:${taken}: the port is in use\n`])
  await writeConfig(dir, {
    ...config,
    gateway: { ...config.gateway, listen: `127.0.0.1:${await freePort()}` },
  })
  await writeFile(join(dir, 'data'), 'a file in its place')
  const other = await runProcess(['serve', '--config', dir])
  t.equal(other.code, 1)
  t.match(other.stderr, /^tollgate: the data directory .*\/data cannot be .*\n$/)
})

t.test('a data directory whose path is too long for a socket in it is refused', async t => {
  const dir = await tempDir(t)
  const dataDir = join(dir, 'x'.repeat(96))
  const listen = `127.0.0.1:${await freePort()}`
  await writeConfig(dir, { ...config, gateway: { ...config.gateway, listen, dataDir } })
  const why = new RegExp(`may have at most 95 bytes, .*: ${dataDir} has ${dataDir.length}`)
  const served = await runProcess(['serve', '--config', dir])
  t.equal(served.code, 1)
  t.match(served.stderr, why)
  const checked = await runProcess(['check', '--data', '--config', dir])
  t.equal(checked.code, 1)
  t.match(checked.stdout + checked.stderr, why)
})

t.test('the workers of a primary that was killed finish and go, and the next gateway starts', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  await access.call('eth_gasPrice')
  const { keeper, workers } = await crewOf(gateway, WORKERS)
  await gateway.kill9()
  await until('all are gone', () => Promise.resolve(![keeper, ...workers].some(isAlive)))
  t.strictSame(
    readdirSync(join(gateway.dir, 'data')).filter(name => name.startsWith('journal-')),
    [],
    'their journals are taken over',
  )
  await gateway.start()
  t.strictSame(await access.usage(), { requests: 1, calls: 1 })
})

t.test(
  'bug: a gateway that was started while the workers of a killed primary finished was refused',
  async t => {
    const access = await createAccess(gateway, 'paid', 'alpha')
    const gate = new Gate()
    node.on('eth_call', async (...handled) => {
      await gate.pass()
      return result('"0x"')(...handled)
    })
    const before = node.count('eth_call')
    const call = access.call('eth_call', [{ to: `0x${'1'.repeat(40)}` }, 'latest'])
    await until('it is under way', () => Promise.resolve(node.count('eth_call') > before))
    const { keeper, workers } = await crewOf(gateway, WORKERS)
    await gateway.kill9()
    const starting = gateway.start()
    await until('it waits', () =>
      Promise.resolve(gateway.printed.includes('waiting until the gateway before')),
    )
    gate.open()
    t.equal((await call).result, '0x', 'what was in flight is answered')
    await starting
    await crewOf(gateway, WORKERS)
    t.strictSame([keeper, ...workers].filter(isAlive), [])
    t.strictSame(await access.usage(), { requests: 1, calls: 1 })
  },
)

t.test('a stop ends all processes, and leaves no journal of theirs', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  await access.call('eth_gasPrice')
  const { keeper, workers } = await crewOf(gateway, WORKERS)
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  t.strictSame([keeper, ...workers].filter(isAlive), [])
  t.strictSame(childrenOf(gateway.pid), [])
  t.strictSame(
    readdirSync(join(gateway.dir, 'data')).filter(name => /^(journal-|keeper|serve.json)/.test(name)),
    [],
  )
  await gateway.start()
  t.strictSame(await access.usage(), { requests: 1, calls: 1 })
})
