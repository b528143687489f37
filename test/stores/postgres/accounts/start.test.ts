/** How a machine comes to its replica, and what keeps it from starting. */
import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { openAccounts } from '../../../../src/stores/sqlite/accounts/store.ts'
import { startPostgresProxy } from '../../../support/postgres-proxy.ts'
import { noServers, startPostgres } from '../../../support/servers.ts'
import { tempDir } from '../../../support/temp-dir.ts'
import { configOf, ENV, openMachine } from '../support/machines.ts'

const HOUR = 3_600_000

t.test('a start with PostgreSQL', { skip: noServers }, async t => {
  const server = await startPostgres(t)
  let schemas = 0
  const fresh = () => configOf(server.url, `start_${(schemas += 1)}`, { timeout: 1_000 })

  t.test('the master key comes from the environment', async t => {
    const dataDir = await tempDir(t)
    await t.rejects(openMachine(t, fresh(), { env: {}, dataDir }), {
      message:
        /^with postgres the master key .* TOLLGATE_MASTER_KEY or TOLLGATE_MASTER_KEY_FILE: neither is set$/,
    })
    const warnings: string[] = []
    writeFileSync(join(dataDir, 'master.key'), randomBytes(32).toString('base64'), { mode: 0o600 })
    const { store } = await openMachine(t, fresh(), { dataDir, warn: sentence => warnings.push(sentence) })
    t.strictSame(warnings, [
      `${dataDir}/master.key is not used: with postgres the master key comes from TOLLGATE_MASTER_KEY`,
    ])
    t.equal(store.masterKey.export().toString('base64'), ENV.TOLLGATE_MASTER_KEY)
    const other = await tempDir(t)
    const file = join(other, 'master.key')
    writeFileSync(file, ENV.TOLLGATE_MASTER_KEY, { mode: 0o600 })
    warnings.length = 0
    await openMachine(t, fresh(), {
      env: { TOLLGATE_MASTER_KEY_FILE: file },
      dataDir: other,
      warn: sentence => warnings.push(sentence),
    })
    t.strictSame(warnings, [], 'a file that is used is not said to be unused')
  })

  t.test('a master key that does not open what others have sealed ends the start', async t => {
    const config = fresh()
    await openMachine(t, config)
    const env = { TOLLGATE_MASTER_KEY: randomBytes(32).toString('base64') }
    await t.rejects(openMachine(t, config, { env }), {
      message: 'the master key does not open the accounts in PostgreSQL: all gateways share one',
    })
  })

  t.test('first starts at the same time come to one canary and one schema', async t => {
    const config = fresh()
    const machines = await Promise.all([1, 2, 3].map(() => openMachine(t, config)))
    t.strictSame(await machines[0]!.postgres.query('SELECT count(*) AS n FROM canary'), [{ n: 1 }])
    for (const { store } of machines) await store.accounts.create({ name: 'x', plan: 'free' })
  })

  t.test('accounts of a time before PostgreSQL are not lost by a start', async t => {
    const dataDir = await tempDir(t)
    const own = await openAccounts({ dataDir, env: ENV })
    const { account } = await own.accounts.create({ name: 'own', plan: 'free' })
    own.close()
    await t.rejects(openMachine(t, fresh(), { dataDir }), {
      message:
        'accounts.db holds accounts that PostgreSQL does not know: "tollgate migrate --to postgres" takes them there',
    })
    const again = await openAccounts({ dataDir, env: ENV })
    t.equal(again.accounts.find(account.id) !== null, true)
    again.close()
  })

  t.test('a replica is not taken for accounts of its own', async t => {
    const { dataDir } = await openMachine(t, fresh())
    await t.rejects(openAccounts({ dataDir, env: ENV }), {
      message: /is a copy of the accounts in PostgreSQL/,
    })
  })

  t.test('without a replica PostgreSQL is waited for, and not for ever', async t => {
    const proxy = await startPostgresProxy(t, server.url)
    const config = { ...fresh(), url: proxy.url }
    proxy.isCut = true
    await t.rejects(openMachine(t, config, { firstWait: 300 }), {
      message: /^PostgreSQL cannot be reached: .*; this machine has no copy of the accounts yet$/,
    })
    const warnings: string[] = []
    const waiting = openMachine(t, config, {
      warn: sentence => {
        warnings.push(sentence)
        proxy.isCut = false
      },
    })
    await (await waiting).store.accounts.create({ name: 'x', plan: 'free' })
    t.strictSame(warnings, ['waiting for PostgreSQL: this machine has no copy of the accounts yet'])
  })

  t.test('with a replica it starts while PostgreSQL is away, with its age', async t => {
    const proxy = await startPostgresProxy(t, server.url)
    const config = { ...fresh(), url: proxy.url }
    const first = await openMachine(t, config)
    const { account } = await first.store.accounts.create({ name: 'x', plan: 'free' })
    const endpoint = await first.store.endpoints.create({ accountId: account.id, network: 'bsc' })
    if (typeof endpoint === 'string') throw new Error(endpoint)
    const { pulledAt } = first.replica.state()!
    proxy.isCut = true
    const warnings: string[] = []
    const second = await openMachine(t, config, {
      dataDir: first.dataDir,
      warn: sentence => warnings.push(sentence),
    })
    t.equal(second.store.findByKey(endpoint.apiKey)?.account.id, account.id)
    t.ok(second.store.age() >= Date.now() - pulledAt - 100)
    t.strictSame(warnings, ['PostgreSQL cannot be reached: accounts are as this machine knew them last'])
  })

  t.test('bug: a clock that jumps makes a copy neither older nor younger', async t => {
    const { store, replica } = await openMachine(t, fresh())
    const { now } = Date
    t.teardown(() => {
      Date.now = now
    })
    Date.now = () => now() - HOUR
    await replica.touch()
    Date.now = now
    const begin = performance.now()
    const before = store.age()
    t.ok(before >= HOUR)
    for (const jump of [48 * HOUR, -48 * HOUR]) {
      Date.now = () => now() + jump
      const older = store.age() - before
      t.ok(older >= 0 && older <= performance.now() - begin + 1_000, `${older} ms older behind ${jump} ms`)
    }
  })

  t.test('the master key is replaced for all machines, also for one that was off meanwhile', async t => {
    const config = fresh()
    const [a, b] = [await openMachine(t, config), await openMachine(t, config)]
    const { account } = await a.store.accounts.create({ name: 'x', plan: 'free' })
    const made = await a.store.endpoints.create({ accountId: account.id, network: 'bsc' })
    if (typeof made === 'string') throw new Error(made)
    await b.puller.pull()
    const off = await openMachine(t, config)
    const { createSecretKey } = await import('node:crypto')
    const next = createSecretKey(randomBytes(32))
    const rotating = await a.store.rotation.begin(next)
    await b.puller.pull()
    const other = await b.store.endpoints.create({ accountId: account.id, network: 'bsc' })
    if (typeof other === 'string') throw new Error(other)
    for await (const pass of a.store.rotation.reseal()) t.strictSame(pass.unopened, [])
    t.ok(await a.store.rotation.finish(rotating, () => undefined))
    await b.puller.pull()
    for (const { store } of [a, b])
      t.strictSame(
        (await store.endpoints.list(account.id)).map(({ apiKey }) => apiKey),
        [made.apiKey, other.apiKey],
      )
    const env = { TOLLGATE_MASTER_KEY: next.export().toString('base64') }
    const back = await openMachine(t, config, { dataDir: off.dataDir, env })
    t.equal((await back.store.endpoints.find(null, made.id))?.apiKey, made.apiKey)
    await t.rejects(openMachine(t, config), { message: /^the master key does not open/ })
  })
})
