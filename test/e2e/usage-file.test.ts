/** A large journal.db under a process that serves: written back apart from the calls, and checked while they are served. */
import { copyFileSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { openUsageDatabase } from '../../src/stores/sqlite/usage/database.ts'
import { createAccess } from '../support/accounts.ts'
import { run } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { serve, startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { damage } from '../support/large-file.ts'
import { LogReader } from '../support/log-lines.ts'
import { startNode } from '../support/scripted-node.ts'
import { until, within } from '../support/until.ts'
import { fillUsage } from '../support/usage-rows.ts'
import { reading } from '../stores/usage/parts.ts'

const now = Math.floor(Date.now() / 1000)

const node = await startNode(t, { chainId: 1001 })
const gateway = await startGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
  methods: fewMethods,
})
const owner = await createAccess(gateway, 'paid', 'alpha')
const data = join(gateway.dir, 'data')
const journal = join(data, 'journal.db')
const log = new LogReader(gateway)
const saidOf = (start: number) =>
  log
    .all()
    .slice(start)
    .map(({ msg }) => msg)
const CHECKING = 'a large file is checked while calls are served'
const REFUSING = 'recording of usage has stopped and calls are refused: restart with an intact file'

await gateway.stop()
const endpointIds = Array.from({ length: 400 }, (_, n) => `ep_filled_${String(n)}`)
fillUsage(data, [{ accountId: 'acc_filled', endpointIds, methods: 10, hours: 110, until: now }])
// Its connection is closed when it is collected as garbage, and would lock the file then.
openUsageDatabase(data).close()

t.test('a large file is checked while calls are served', async t => {
  t.ok(statSync(journal).size > 64 * 1024 * 1024)
  const start = log.all().length
  await gateway.start()
  t.equal((await owner.call('eth_chainId')).error, undefined)
  await until(
    'the file is found sound',
    () => Promise.resolve(saidOf(start).includes('the file is sound')),
    60_000,
  )
  t.equal(saidOf(start).filter(msg => msg === CHECKING).length, 1)
})

t.test('what was recorded comes into the file while calls are served', async t => {
  const copy = t.testdir()
  const recorded = await until(
    'a checkpoint',
    () => {
      // Without the log beside it.
      rmSync(join(copy, 'journal.db'), { force: true })
      copyFileSync(journal, join(copy, 'journal.db'))
      const query = { accountId: owner.accountId, from: now - 3600, to: now + 7200, by: 'hour' } as const
      const rows = reading(copy).rows(query)
      return Promise.resolve(rows.length > 0 && rows)
    },
    60_000,
  )
  t.match(recorded, [{ method: 'eth_chainId', calls: 1 }])
})

t.test('a check that is under way does not keep the gateway from ending', async t => {
  await gateway.stop()
  const start = log.all().length
  await gateway.start()
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  t.ok(saidOf(start).includes(CHECKING))
})

t.test('a page that the start itself needs and cannot read is told with the name of the file', async t => {
  const reader = new DatabaseSync(journal, { readOnly: true })
  const root = reader.prepare("SELECT rootpage AS page FROM sqlite_schema WHERE name = 'folded'").get() as {
    page: number
  }
  reader.close()
  const repair = damage(journal, root.page)
  const start = serve(gateway.dir)
  t.strictSame(await within('a start that fails', start.exited), { code: 1, signal: null })
  t.match(start.stderr, /^tollgate: \S+journal\.db is damaged: [^\n]+\n$/)
  repair()
})

t.test('a large file that turns out to be damaged takes no more charges', async t => {
  damage(journal, 8_001, 100)
  const start = log.all().length
  await gateway.start()
  await until('the damage is found', () => Promise.resolve(saidOf(start).includes(REFUSING)), 60_000)
  const said = log.all().find(({ msg }) => msg === REFUSING)!
  t.match(said['err'], { message: /journal\.db is damaged: / })
  const process = JSON.parse((await get(`${gateway.adminUrl}/process`)).text)
  t.match(
    process,
    { damaged: undefined, damagedJournal: new RegExp(`^${journal} is damaged: `) },
    'bug: only accounts.db was told of',
  )
  const check = await run(['check', '--data', '--config', gateway.dir])
  t.equal(check.code, 0)
  t.match(
    check.stdout,
    `dataDir: warning: the gateway that runs on it (process ${process.pid}) records no usage and refuses calls: ${journal} is damaged: `,
    'bug: it said nothing of a damaged file',
  )
  t.match((await owner.call('eth_chainId')).error, { data: { reason: 'journal_unavailable' } })
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
})
