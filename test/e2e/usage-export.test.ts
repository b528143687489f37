/** `tollgate usage` of more rows than anybody holds in memory. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import t from 'tap'
import { openAccounts } from '../../src/stores/sqlite/accounts/store.ts'
import { usage } from '../../src/commands/usage/usage.ts'
import { run } from '../support/cli.ts'
import { cleanEnvironment } from '../support/child.ts'
import { fewMethods } from '../support/few-methods.ts'
import { prepareGateway } from '../support/gateway.ts'
import { mainFile, nodeFile } from '../support/paths.ts'
import { fillUsage } from '../support/usage-rows.ts'
import { openUsageDatabase } from '../../src/stores/sqlite/usage/database.ts'
import { openDataDir } from '../../src/stores/sqlite/data-dir.ts'
import { within } from '../support/until.ts'

const ENDPOINTS = 250
const METHODS = 10
const HOURS = 60
const ROWS = ENDPOINTS * METHODS * HOURS

const gateway = await prepareGateway(t, {
  networks: { alpha: { chainId: 1001 } },
  routes: [{ id: 'alpha-a', network: 'alpha', http: 'http://127.0.0.1:1' }],
  methods: fewMethods,
})
const data = join(gateway.dir, 'data')
openDataDir(data)
const accounts = await openAccounts({ dataDir: data, env: {} })
accounts.close()
openUsageDatabase(data).close()
const endpointIds = Array.from({ length: ENDPOINTS }, (_, n) => `ep_filled_${String(n).padStart(4, '0')}`)
const now = Math.floor(Date.now() / 1000)
fillUsage(data, [{ accountId: 'acc_filled', endpointIds, methods: METHODS, hours: HOURS, until: now }])
const args = ['usage', '--by', 'hour', '--config', gateway.dir]

t.test('a table, JSON and CSV have all rows', async t => {
  const [table, json, csv] = await Promise.all([run(args), run([...args, '--json']), run([...args, '--csv'])])
  for (const { code, stderr } of [table, json, csv]) {
    t.equal(code, 0)
    t.match(stderr, /^(tollgate: data directory \S+\n)?(tollgate: \d+ rows so far\n)*$/)
  }
  const lines = table.stdout.trimEnd().split('\n')
  t.equal(lines.length, ROWS + 1)
  t.equal(new Set(lines.map(line => line.length)).size, 1, 'columns are lined up')
  const rows = JSON.parse(json.stdout) as { time: number; endpointId: string; method: string }[]
  t.equal(rows.length, ROWS)
  t.equal(new Set(rows.map(row => `${row.time} ${row.endpointId} ${row.method}`)).size, ROWS, 'each once')
  t.ok(
    rows.every((row, at) => at === 0 || row.time >= rows[at - 1]!.time),
    'oldest first',
  )
  const [head, ...cells] = csv.stdout.trimEnd().split('\n')
  t.equal(cells.length, ROWS)
  t.match(head, /^time,/)
  const times = cells.map(line => line.slice(0, line.indexOf(',')))
  t.match(times[0], /^\d{4}-\d\d-\d\dT\d\d:00:00Z$/, 'UTC, as spreadsheets and --from read it')
  t.ok(
    times.every((time, at) => Date.parse(time) === rows[at]!.time * 1000),
    'those of JSON',
  )
})

for (const format of [[], ['--json'], ['--csv'], ['--json', '--detail']])
  t.test(`no more is read than is taken: ${format.join(' ') || 'a table'}`, async t => {
    let lines = 0
    let mayGoOn: (isRead: boolean) => void = () => undefined
    let asked = (): void => undefined
    const io = {
      env: {},
      program: 'tollgate',
      out: (text: string) => (lines += text.split('\n').length),
      err: () => undefined,
      drained: () =>
        new Promise<boolean>(resolve => {
          mayGoOn = resolve
          asked()
        }),
    }
    const full = () => new Promise<void>(resolve => (asked = resolve))
    let waits = full()
    const exit = usage.run([...args.slice(1), ...format], io)
    for (let time = 1; time <= 3; time += 1) {
      await within('the command waits', waits)
      t.ok(
        lines > 0 && lines <= time * 1_000,
        `${String(lines)} lines when it waits for the ${String(time)}. time`,
      )
      waits = full()
      if (time < 3) mayGoOn(true)
    }
    mayGoOn(false)
    t.equal(await within('its end once nobody reads', exit), 0)
    t.ok(lines <= 3_000)
  })

t.test('a reader that leaves ends the command, whatever it has still to say', async t => {
  for (const format of [[], ['--json'], ['--csv', '--detail']]) {
    const child = spawn(nodeFile, [mainFile, ...args, ...format], {
      env: cleanEnvironment(),
      stdio: ['ignore', 'pipe', 'pipe'],
    })
    let stderr = ''
    child.stderr.setEncoding('utf8').on('data', (text: string) => (stderr += text))
    const exited = once(child, 'exit')
    await within('the first rows', once(child.stdout, 'data'))
    child.stdout.destroy()
    t.strictSame(await within('its end', exited), [0, null], `usage ${format.join(' ')}`)
    t.match(stderr, /^(tollgate: data directory \S+\n)?(tollgate: \d+ rows so far\n)*$/)
  }
})
