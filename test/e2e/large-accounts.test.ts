/** A large accounts.db: read in part only by whoever opens it, and checked while the gateway serves. */
import { statSync } from 'node:fs'
import { join } from 'node:path'
import t, { type Test } from 'tap'
import { createAccess } from '../support/accounts.ts'
import type { Access } from '../support/access.ts'
import { run, runJson } from '../support/cli.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway, serve, type Gateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { damage, enlarge } from '../support/large-file.ts'
import { LogReader, type LogLine } from '../support/log-lines.ts'
import { startNode } from '../support/scripted-node.ts'
import { until, within } from '../support/until.ts'
import { crewOf, kill9 } from '../support/workers.ts'

const node = await startNode(t, { chainId: 1001 })
const BEGUN = 'a large file is checked while calls are served'
const SOUND = 'the file is sound'
/** Milliseconds: the process that checks gives way to everything else on the machine. */
const PATIENCE = 180_000
const DAMAGED = 'known keys are served, but changes to accounts are refused: restart with an intact file'

interface Prepared {
  readonly gateway: Gateway
  readonly owner: Access
  readonly log: LogReader
  /** Of accounts.db. */
  readonly file: string
}

/** A gateway that does not run, with one account. */
async function prepared(t: Test, workers: number): Promise<Prepared> {
  const gateway = await prepareGateway(t, {
    networks: { alpha: { chainId: 1001 } },
    routes: [{ id: 'alpha-a', network: 'alpha', http: node.url }],
    methods: fewMethods,
    gateway: { workers },
  })
  // With its journal, without which a start would be the first.
  await gateway.start()
  const owner = await createAccess(gateway, 'paid', 'alpha')
  await gateway.stop()
  return { gateway, owner, log: new LogReader(gateway), file: join(gateway.dir, 'data', 'accounts.db') }
}

async function large(t: Test, workers = 1): Promise<Prepared> {
  const made = await prepared(t, workers)
  enlarge(made.file)
  t.ok(statSync(made.file).size > 64 * 1024 * 1024)
  return made
}

const linesOf = (log: LogReader, text: string): readonly LogLine[] =>
  log.all().filter(({ msg }) => msg === text)

async function said(log: LogReader, text: string): Promise<LogLine> {
  return until(`the log says "${text}"`, () => Promise.resolve(linesOf(log, text)[0]), PATIENCE)
}

const change = async (owner: Access): Promise<any> =>
  owner.manage('service_createEndpoint', [{ chain: 'alpha' }])

for (const workers of [1, 2])
  t.test(`a sound one takes changes, checked once beside workers: ${workers}`, async t => {
    const { gateway, owner, log, file } = await large(t, workers)
    await gateway.start()
    t.match(await said(log, BEGUN), { file })
    t.match(await said(log, SOUND), { file, seconds: Number })
    t.equal((await owner.call('eth_chainId')).error, undefined)
    t.match(await change(owner), { result: { apiKey: /^tg_/ } })
    t.equal((await get(`${gateway.adminUrl}/readyz`)).status, 200)
    t.strictSame(await gateway.stop(), { code: 0, signal: null })
    t.equal(linesOf(log, BEGUN).length, 1)
  })

t.test('one that turns out to be damaged takes no more changes, and known keys are served', async t => {
  const { gateway, owner, log, file } = await large(t)
  damage(file, 8_000, 100)
  t.equal((await run(['account', 'list', '--config', gateway.dir])).code, 0)
  t.equal((await run(['check', '--data', '--config', gateway.dir])).code, 0)
  await gateway.start()
  const { err } = await said(log, DAMAGED)
  t.match(err, { message: new RegExp(`^${file} is damaged: `) })
  t.match(await get(`${gateway.adminUrl}/readyz`), {
    status: 503,
    text: new RegExp(`^accounts_unavailable: ${file} is damaged: .+\n$`),
  })
  const process = JSON.parse((await get(`${gateway.adminUrl}/process`)).text)
  t.match(process, { damaged: new RegExp(`^${file} is damaged: `), damagedJournal: undefined })
  const check = await run(['check', '--data', '--config', gateway.dir])
  t.equal(check.code, 0)
  t.match(
    check.stdout,
    `dataDir: warning: the gateway that runs on it (process ${process.pid}) refuses changes of accounts: ${file} is damaged: `,
    'bug: it said nothing of a damaged file',
  )
  t.equal((await owner.call('eth_chainId')).error, undefined)
  t.match(await change(owner), { error: { data: { reason: 'store_unavailable' } } })
  const list = await runJson(gateway.dir, ['account', 'list'])
  t.match(list, [{ accountId: owner.accountId }])
  const create = await run(['account', 'create', 'acme', '--plan', 'paid', '--config', gateway.dir])
  t.match(create, { code: 1, stderr: `${file} is damaged: ` })
  t.strictSame(await runJson(gateway.dir, ['account', 'list']), list)
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  t.equal(linesOf(log, DAMAGED).length, 1)
  t.equal(linesOf(log, SOUND).length, 0)
})

t.test('workers refuse changes of a damaged one, also those that are started later', async t => {
  const { gateway, owner, log, file } = await large(t, 2)
  damage(file, 8_000, 100)
  await gateway.start()
  await said(log, DAMAGED)
  const { workers } = await crewOf(gateway, 2)
  const refused = { error: { data: { reason: 'store_unavailable' } } }
  await until(
    'changes are refused',
    async () => (await change(owner)).error?.data.reason === 'store_unavailable',
  )
  for (const pid of workers) kill9(pid)
  await until('two others', async () =>
    (await crewOf(gateway, 2)).workers.every(pid => !workers.includes(pid)),
  )
  t.match(await change(owner), refused)
  t.equal((await owner.call('eth_chainId')).error, undefined)
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  t.equal(linesOf(log, DAMAGED).length, 1)
})

t.test('a small one that is damaged still ends the start', async t => {
  const { gateway, file } = await prepared(t, 1)
  damage(file, 4)
  const start = serve(gateway.dir)
  t.teardown(() => start.stop('SIGKILL'))
  t.strictSame(await within('a start that fails', start.exited), { code: 1, signal: null })
  t.match(start.stderr, /^tollgate: \S+accounts\.db is damaged: [^\n]+\n$/)
})
