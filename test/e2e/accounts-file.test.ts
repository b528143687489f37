/** accounts.db that is removed or replaced under a running gateway, or missing at a start beside files that are made after it. */
import { copyFileSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { createAccess } from '../support/accounts.ts'
import { run, runJson } from '../support/cli.ts'
import type { ConfigOptions } from '../support/config-files.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway, startGateway, type Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { LogReader } from '../support/log-lines.ts'
import { startNode } from '../support/scripted-node.ts'
import { until, within } from '../support/until.ts'

const node = await startNode(t, { chainId: 1001 })
const config: ConfigOptions = {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
}
const create = (name: string) => ['account', 'create', name, '--plan', 'paid', '--init']
const LOST =
  'known keys are served, but changes of accounts are lost and a restart would not find them: stop the gateway, put the file back and start it again'

async function notReady(gateway: Gateway): Promise<string> {
  return until('it is not ready', async () => {
    const { status, text } = await get(`${gateway.adminUrl}/readyz`)
    return status === 503 && text
  })
}

for (const fate of ['removed', 'replaced'] as const)
  t.test(
    `accounts.db that is ${fate} under a running gateway is told at once, and known keys are served`,
    async t => {
      const gateway = await startGateway(t, config)
      const owner = await createAccess(gateway, 'paid', 'alpha')
      const log = new LogReader(gateway)
      const file = join(gateway.dir, 'data', 'accounts.db')
      if (fate === 'replaced') copyFileSync(file, `${file}.copy`)
      renameSync(file, `${file}.away`)
      if (fate === 'replaced') renameSync(`${file}.copy`, file)
      t.match(
        await notReady(gateway),
        new RegExp(`^accounts_unavailable: \\S+accounts\\.db was ${fate} while it was open\n$`),
      )
      const said = await until('the log says so', () =>
        Promise.resolve(log.all().find(({ msg }) => msg === LOST)),
      )
      t.match(said['err'], { message: /accounts\.db was/ })
      t.equal((await owner.call('eth_chainId')).error, undefined)
      const change = await owner.manage('service_createEndpoint', [{ chain: 'alpha' }])
      t.match(change, { error: { data: { reason: 'store_unavailable' } } }, 'bug: it was an internal error')
      if (fate === 'removed') {
        const made = await run([...create('other'), '--config', gateway.dir])
        t.equal(made.code, 1)
        t.match(made.stderr, /its files were removed while it ran: stop it and restore them from a backup/)
        t.notOk(existsSync(file))
      }
      rmSync(file, { force: true })
      renameSync(`${file}.away`, file)
      await until('it is ready again', async () => (await get(`${gateway.adminUrl}/readyz`)).status === 200)
      t.equal((await run(['account', 'list', '--config', gateway.dir])).code, 0)
    },
  )

t.test('nothing makes a new accounts.db beside what is left of an old one', async t => {
  const gateway = await startGateway(t, config)
  await createAccess(gateway, 'paid', 'alpha')
  await gateway.stop()
  const data = join(gateway.dir, 'data')
  rmSync(join(data, 'accounts.db'))
  const left = ['journal.db', 'master.key']
  for (const name of readdirSync(data)) if (!left.includes(name)) rmSync(join(data, name))
  // The start last: one that came up would stay.
  for (const args of [create('acme'), ['check', '--data'], ['account', 'list'], ['serve']]) {
    const { code, stdout, stderr } = await within(args.join(' '), run([...args, '--config', gateway.dir]))
    t.equal(code, 1, args.join(' '))
    t.match(
      stdout + stderr,
      'accounts.db is missing while journal.db is there: restore it from a backup, or move journal.db away to start without its accounts',
    )
  }
  t.strictSame(readdirSync(data), left)
})

/** A database file that has nothing in it but its header, as a start leaves it that was killed early. */
function headerOnly(file: string): void {
  const database = new DatabaseSync(file)
  database.exec('PRAGMA journal_mode = WAL')
  database.close()
}

async function prepared(t: Test): Promise<{ gateway: Gateway; data: string }> {
  const gateway = await prepareGateway(t, config)
  const data = join(gateway.dir, 'data')
  mkdirSync(data)
  return { gateway, data }
}

/** What a first start has made when it is killed, in the order in which it makes it. */
const killed: Readonly<Record<string, (data: string) => void>> = {
  'an empty file': data => {
    writeFileSync(join(data, 'accounts.db'), '')
  },
  'a header': data => {
    headerOnly(join(data, 'accounts.db'))
  },
  'a header and the master key': data => {
    headerOnly(join(data, 'accounts.db'))
    writeFileSync(join(data, 'master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
  },
  // Nobody was killed here: an operator may bring the key along.
  'the master key alone': data => {
    writeFileSync(join(data, 'master.key'), `${Buffer.alloc(32, 7).toString('base64')}\n`, { mode: 0o600 })
  },
  'an empty journal.db': data => {
    headerOnly(join(data, 'accounts.db'))
    writeFileSync(join(data, 'journal.db'), '')
  },
  'the header of journal.db': data => {
    headerOnly(join(data, 'accounts.db'))
    headerOnly(join(data, 'journal.db'))
  },
}
for (const [name, leave] of Object.entries(killed))
  t.test(`a first start that was killed with ${name} made is no hindrance`, async t => {
    const { gateway, data } = await prepared(t)
    leave(data)
    t.equal((await run(['check', '--data', '--config', gateway.dir])).code, 0)
    t.match(await runJson(gateway.dir, create('acme')), { endpoint: { apiKey: /./ } })
    await gateway.start()
    t.strictSame(await gateway.stop(), { code: 0, signal: null })
  })
