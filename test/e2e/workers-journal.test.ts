/** What the journals of workers hold on the disk. */
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { createAccess } from '../support/accounts.ts'
import { fillJournal } from '../support/full-journal.ts'
import { get } from '../support/http.ts'
import { until, within } from '../support/until.ts'
import { childrenOf, crewOf, isAlive, kill9, startTwoWorkers } from '../support/workers.ts'

const { gateway } = await startTwoWorkers(t, 'roundRobin')
const data = join(gateway.dir, 'data')
const journals = () => readdirSync(data).filter(name => /^journal-\d+-[0-9a-f]+\.db$/.test(name))

/** How often the write-ahead log of a journal was begun anew: its checkpoint sequence number (sqlite.org/fileformat2.html, section 4.1). */
const timesBegun = (name: string) => readFileSync(join(data, `${name}-wal`)).readUInt32BE(12)

t.test('bug: the write-ahead log of a worker grew until the worker ended', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const names = journals()
  t.equal(names.length, 2)
  const changed = () => names.map(name => statSync(join(data, name)).mtimeMs)
  const call = async (times: number) => {
    for (let n = 0; n < times; n += 1) t.equal((await access.call('eth_gasPrice')).result, '0x1')
  }
  await call(40)
  const [before, begun] = [changed(), names.map(timesBegun)]
  await until('both are written back', () => Promise.resolve(changed().every((at, i) => at > before[i]!)))
  await until('the next commits begin both logs anew, in the files as they are', async () => {
    await call(2)
    return names.every((name, i) => timesBegun(name) > begun[i]!)
  })
})

t.test('a worker whose keeper takes nothing over refuses calls at 256 MiB of journal', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const { keeper } = await crewOf(gateway, 2)
  const [name] = readdirSync(data).filter(file => /^journal-1-[0-9a-f]+\.db$/.test(file))
  let served = 0
  const call = async () => {
    const reply = await access.call('eth_gasPrice')
    if (reply.result === '0x1') served += 1
    return reply.error?.data.reason as string | undefined
  }
  const both = async () => [await call(), await call()].sort()
  t.strictSame(await both(), [undefined, undefined])
  process.kill(keeper, 'SIGSTOP')
  t.teardown(() => {
    kill9(keeper)
  })
  // As many charges as an hour without the ledger, in one record that has none.
  const journal = new DatabaseSync(join(data, name!), { timeout: 5_000 })
  const full = 256 * 1024 ** 2
  journal
    .prepare("INSERT INTO journal VALUES (-1, '[]' || replace(hex(zeroblob(?)), '0', ' '))")
    .run(full / 2)
  journal.close()
  t.strictSame(
    await until('one worker refuses', async () => {
      const seen = await both()
      return seen.includes('journal_unavailable') ? seen : false
    }),
    ['journal_unavailable', undefined],
    'and the other one serves',
  )
  await until('the log says why', () =>
    Promise.resolve(/journal-1-[0-9a-f]{16}\.db holds 256\.\d MiB that the ledger has/.test(gateway.printed)),
  )
  kill9(keeper)
  await until('both serve', async () => (await both()).every(reason => reason === undefined))
  await until('the log says so', () =>
    Promise.resolve(gateway.printed.includes('usage journal recovered; calls are served')),
  )
  t.equal((await access.usage()).calls, served)
})

/** MiB; `MIB=256` for a whole one. */
const FULL = Number(process.env['MIB'] ?? 24)

t.test('bug: while the keeper took over the long journal of a killed worker it answered nobody', async t => {
  // Without a primary that hands connections on: one that a killed worker was just given is answered by nobody.
  const { gateway } = await startTwoWorkers(t)
  const data = join(gateway.dir, 'data')
  const access = await createAccess(gateway, 'paid', 'alpha')
  const crew = await crewOf(gateway, 2)
  const [name] = readdirSync(data).filter(file => /^journal-1-[0-9a-f]+\.db$/.test(file))
  const journal = join(data, name!)
  process.kill(crew.keeper, 'SIGSTOP')
  const charged = fillJournal(journal, {
    mib: FULL,
    entries: 20,
    counters: 60_000,
    account: access.accountId,
    endpoint: access.endpointId,
  })
  kill9(crew.workers[0]!)
  process.kill(crew.keeper, 'SIGCONT')
  const ledger = new DatabaseSync(join(data, 'journal.db'), { readOnly: true })
  const taken = ledger.prepare('SELECT 1 FROM taken WHERE file = ? AND place > 1000000')
  const isUnderWay = () => taken.get(name!) !== undefined && existsSync(journal)
  let [answered, read] = [0, 0]
  const untilTaken = async (ask: () => Promise<void>) => {
    while (existsSync(journal)) await ask()
  }
  const both = Promise.all([
    untilTaken(async () => {
      const { status } = await get(`${gateway.adminUrl}/livez`)
      if (status === 200 && isUnderWay()) answered += 1
    }),
    untilTaken(async () => {
      const { calls } = await access.usage()
      if (calls > 0 && calls < charged) read += 1
    }),
  ])
  await within('all of it to be taken over', both, 60_000)
  ledger.close()
  t.ok(
    answered > 0 && read > 0,
    `${answered} answers of its admin listener, ${read} of what is read of usage`,
  )
  t.equal((await access.usage()).calls, charged)
})

t.test('bug: one process left the journals of killed workers where they were', async t => {
  const access = await createAccess(gateway, 'paid', 'alpha')
  const { workers } = await crewOf(gateway, 2)
  const all = childrenOf(gateway.pid)
  for (let n = 0; n < 20; n += 1) t.equal((await access.call('eth_gasPrice')).result, '0x1')
  // The workers with the rest: nobody is there to hand anything over to.
  for (const pid of all) kill9(pid)
  await gateway.kill9()
  await until('all have ended', () => Promise.resolve(all.every(pid => !isAlive(pid))))
  t.equal(journals().length, workers.length)
  const file = join(gateway.dir, 'gateway.yaml')
  await writeFile(file, (await readFile(file, 'utf8')).replace('count: 2', 'count: 1'))
  await gateway.start()
  t.strictSame(journals(), [])
  t.equal((await access.usage()).calls, 20)
})
