import t, { type Test } from 'tap'
import { execFileSync } from 'node:child_process'
import {
  chmodSync,
  copyFileSync,
  cpSync,
  existsSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  writeFileSync,
} from 'node:fs'
import { Agent } from 'node:http'
import { join } from 'node:path'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { createAccess } from '../support/accounts.ts'
import { run, runProcess } from '../support/cli.ts'
import { total } from '../support/client-ledger.ts'
import { allCapabilities, writeConfig } from '../support/config-files.ts'
import { cannotMount } from '../support/cramped-disk.ts'
import { startGateway } from '../support/gateway.ts'
import { get } from '../support/http.ts'
import { LoadedAccess, mixedMethods } from '../support/ledger-load.ts'
import { LogReader } from '../support/log-lines.ts'
import { meteredByMethod } from '../support/metered.ts'
import { Random } from '../support/random.ts'
import { startSocketNode } from '../support/scripted-socket-node.ts'
import { tempDir } from '../support/temp-dir.ts'
import { until, within } from '../support/until.ts'

const PAGE = 4096
/** Pages of a journal that are damaged, one at a time, at random. */
const PAGES = Number(process.env['PAGES'] ?? 10)

const node = await startSocketNode(t, { chainId: 1001 })
const config = {
  networks: { alpha: { chainId: 1001 } },
  routes: [
    { id: 'alpha-a', network: 'alpha', http: node.url, ws: node.wsUrl, capabilities: allCapabilities },
  ],
  methods: mixedMethods,
}
const gateway = await startGateway(t, config)
const random = new Random(Date.now())
const load = new LoadedAccess(await createAccess(gateway, 'paid', 'alpha'), random)
const { access, ledger } = load
const agent = new Agent({ keepAlive: true })
t.teardown(() => {
  agent.destroy()
})
const data = join(gateway.dir, 'data')
const journal = join(data, 'journal.db')
const send = (messages: number) =>
  Promise.all(Array.from({ length: messages }, () => load.post(load.message(), agent)))

/** What is metered is what was told. */
async function exact(t: Test, when: string): Promise<void> {
  t.strictSame(Object.fromEntries(await meteredByMethod(access)), Object.fromEntries(ledger.told), when)
  t.strictSame(await access.usage(), total(ledger.told), when)
}

/** A start that must end with one sentence that matches. */
async function refusesToStart(
  t: Test,
  sentence: RegExp,
  dir = gateway.dir,
  serve = runProcess,
): Promise<void> {
  const start = await within('a start that fails', serve(['serve', '--config', dir]))
  t.equal(start.code, 1)
  t.match(start.stderr, sentence)
  t.match(start.stderr, /^tollgate: [^\n]+\n$/, 'one sentence')
  t.equal(start.stdout, '', 'and nothing else')
}

t.test('a second serve ends with one sentence, and the first goes on unharmed', async t => {
  const work = send(200)
  await refusesToStart(t, /another tollgate serve is using .*data$/m)
  await work
  await send(20)
  await exact(t, 'the first')
})

t.test('a journal that is damaged, foreign or no database stops the start, and is left as it is', async t => {
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  t.notOk(existsSync(`${journal}-wal`), 'a clean stop leaves one whole file')
  const whole = readFileSync(journal)
  t.ok(whole.length >= 6 * PAGE, `a file of ${whole.length} bytes`)
  const cases: [what: string, bytes: Buffer, sentence: RegExp][] = [
    ['half of it', whole.subarray(0, PAGE * Math.floor(whole.length / PAGE / 2)), /journal\.db is damaged: /],
    ['half a page', whole.subarray(0, PAGE / 2), /journal\.db is (damaged: |not a SQLite database)/],
    ['no database', Buffer.from('usage: none\n'.repeat(1000)), /journal\.db is not a SQLite database$/m],
    ['a foreign one', foreignDatabase(t), /journal\.db is a database of another program$/m],
  ]
  for (const [what, bytes, sentence] of cases) {
    writeFileSync(journal, bytes)
    await t.test(what, t => refusesToStart(t, sentence))
    t.ok(readFileSync(journal).equals(bytes), `${what}: untouched`)
  }
  writeFileSync(journal, whole)
  await gateway.start()
  await exact(t, 'the whole file again')
})

t.test('random bytes in any page of a journal stop the start, and are left as they are', async t => {
  await gateway.stop()
  // Starts within this process take a tenth of the CPU of others; what they leave open is of a copy.
  const dir = await tempDir(t)
  await writeConfig(dir, config)
  const copied = join(dir, 'data')
  const whole = readFileSync(journal)
  const unused = unusedPages(whole, PAGE)
  const used = Array.from({ length: whole.length / PAGE - 1 }, (_, i) => i + 1).filter(
    page => !unused.has(page + 1),
  )
  for (const page of new Set(Array.from({ length: PAGES }, () => random.pick(used)))) {
    const torn = Buffer.from(whole)
    random.bytes(PAGE).copy(torn, page * PAGE)
    rmSync(copied, { recursive: true, force: true })
    cpSync(data, copied, { recursive: true })
    writeFileSync(join(copied, 'journal.db'), torn)
    await t.test(`page ${page}`, t => refusesToStart(t, /journal\.db is damaged: /, dir, run))
    t.ok(readFileSync(join(copied, 'journal.db')).equals(torn), `page ${page} is untouched`)
  }
  await gateway.start()
})

/** Pages that hold nothing: nobody misses what is damaged there (https://sqlite.org/fileformat.html, section 1.5). */
function unusedPages(file: Buffer, page: number): ReadonlySet<number> {
  const unused = new Set<number>()
  for (let trunk = file.readUInt32BE(32); trunk !== 0; trunk = file.readUInt32BE((trunk - 1) * page)) {
    const begin = (trunk - 1) * page
    for (let i = 0; i < file.readUInt32BE(begin + 4); i++) unused.add(file.readUInt32BE(begin + 8 + 4 * i))
  }
  return unused
}

/** The bytes of another program's database. */
function foreignDatabase(t: Test): Buffer {
  const file = join(t.testdir(), 'notes.db')
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE notes (text TEXT)')
  database.close()
  return readFileSync(file)
}

t.test('a write-ahead log that a crash cut short is read up to its last whole commit', async t => {
  for (const share of [0.5, 0.9, 0.99]) {
    await send(60)
    await gateway.kill9()
    const wal = `${journal}-wal`
    const { size } = statSync(wal)
    truncateSync(wal, Math.floor(size * share))
    await gateway.start()
    const metered = await meteredByMethod(access)
    const now = await access.usage()
    t.strictSame(now, total(metered), 'the listing is the sum of the rows')
    t.ok(
      now.calls <= total(ledger.told).calls,
      `nothing is made up: ${now.calls} of ${total(ledger.told).calls}`,
    )
    for (const [method, use] of metered) {
      const told = ledger.told.get(method)!
      t.ok(use.calls <= told.calls && use.requests <= told.requests, method)
    }
    ledger.settle(metered)
    await send(20)
    await exact(t, 'and it goes on from there, to the unit')
  }
  await gateway.kill9()
  await gateway.start()
  await exact(t, 'a log that is not cut loses nothing')
})

t.test('a journal that is replaced while it is open takes no more charges, until it is back', async t => {
  const log = new LogReader(gateway)
  const start = log.all().length
  const aside = join(data, 'aside')
  copyFileSync(journal, join(data, 'backup'))
  renameSync(journal, aside)
  renameSync(join(data, 'backup'), journal)
  const ready = () => get(`${gateway.adminUrl}/readyz`)
  const unready = await until('it is noticed', async () => {
    const reply = await ready()
    return reply.status !== 200 && reply
  })
  t.match(unready, {
    status: 503,
    text: `journal_unavailable: ${journal} was replaced while it was open\n`,
  })
  t.match((await access.call('eth_chainId')).error, { data: { reason: 'journal_unavailable' } })
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  const told = log.all().slice(start)
  t.match(
    told.filter(({ level }) => level !== 'info'),
    [
      {
        msg: 'usage is no longer recorded, and calls are refused: stop the gateway, put the file back and start it again',
        err: { message: `${journal} was replaced while it was open` },
      },
    ],
    'one line says so',
  )
  renameSync(aside, journal)
  await gateway.start()
  await exact(t, 'the file itself')
  await send(20)
  await exact(t, 'and it goes on')
})

t.test('a journal that is gone stops the start when its log is there', async t => {
  await gateway.kill9()
  const kept = join(data, 'kept')
  renameSync(journal, kept)
  const sentence =
    /journal\.db is missing while \S+journal\.db-wal holds changes to it: put the file back, or move/
  await refusesToStart(t, sentence)
  renameSync(kept, journal)
  await gateway.start()
  await exact(t, 'both again')
})

t.test('a journal behind a link is written and synced where it is', async t => {
  await gateway.stop()
  const place = join(t.testdir(), 'real.db')
  renameSync(journal, place)
  symlinkSync(place, journal)
  const log = new LogReader(gateway)
  const start = log.all().length
  await gateway.start()
  await send(20)
  await exact(t, 'behind the link')
  await gateway.kill9()
  await gateway.start()
  await exact(t, 'and after a kill')
  await gateway.stop()
  t.strictSame(
    log
      .all()
      .slice(start)
      .filter(({ level }) => level !== 'info'),
    [],
  )
  rmSync(journal)
  renameSync(place, journal)
  await gateway.start()
})

t.test('an empty journal is a new one', async t => {
  await gateway.stop()
  const whole = readFileSync(journal)
  writeFileSync(journal, '')
  await gateway.start()
  t.strictSame(await access.usage(), { requests: 0, calls: 0 })
  await gateway.stop()
  writeFileSync(journal, whole)
  await gateway.start()
  await exact(t, 'the old one again')
})

t.test('a data directory that cannot be written stops the start', async t => {
  t.strictSame(await gateway.stop(), { code: 0, signal: null })
  const kept = t.testdir()
  cpSync(data, kept, { recursive: true })
  const root = process.getuid?.() === 0
  const why = root ? cannotMount() : undefined
  if (why !== undefined) return void t.pass(why, { skip: why })
  if (root) {
    execFileSync('mount', ['--bind', data, data])
    t.teardown(() => execFileSync('umount', ['-l', data]))
    execFileSync('mount', ['-o', 'remount,ro,bind', data])
  } else {
    chmodSync(data, 0o500)
    t.teardown(() => {
      chmodSync(data, 0o700)
    })
  }
  await refusesToStart(
    t,
    /cannot be (opened for writing|written): (the file system is read-only|permission denied for .+)$/m,
  )
  for (const name of ['accounts.db', 'journal.db'])
    t.ok(readFileSync(join(data, name)).equals(readFileSync(join(kept, name))), `${name} is as it was`)
  t.notOk(existsSync(join(data, 'serve.json')), 'nobody is said to serve')
  rmSync(kept, { recursive: true })
})
