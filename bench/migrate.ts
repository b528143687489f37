/**
 * What it takes to move the installation of one machine to PostgreSQL: seconds and memory of `tollgate migrate --to postgres`, with all usage and with a
 * quarter of it, since memory must not grow with it; that sums are the same there, and that a second time changes nothing. `ENDPOINTS` and `ROWS` (of usage)
 * make it larger or smaller. PostgreSQL is one of its own on the loopback, without `fsync`.
 */
import { readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { Child, cleanEnvironment } from '../test/support/child.ts'
import { startPostgres } from '../test/support/servers.ts'
import { fill } from './parts/fill.ts'
import { fillUsageFile } from './parts/fill-usage.ts'
import { configFor, Processes } from './parts/processes.ts'

const ENDPOINTS = Number(process.env['ENDPOINTS'] ?? 100_000)
const ROWS = Number(process.env['ROWS'] ?? 1_000_000)
/** Endpoints that were used, and by how many methods. */
const [USED, METHODS] = [500, 10]
/** Milliseconds between two looks at the most memory that the command has had. */
const LOOK = 20

const main = fileURLToPath(new URL('../dist/main.js', import.meta.url))
const endings: (() => unknown)[] = []
const server = await startPostgres({ teardown: end => void endings.push(end) })

/** A run of the command. Memory in MB. */
interface Run {
  readonly seconds: number
  readonly peak: number
  readonly written: Readonly<Record<string, number>>
}

async function migrate(dir: string): Promise<Run> {
  const begin = performance.now()
  const words = [main, 'migrate', '--to', 'postgres', '--config', dir, '--json']
  const env = cleanEnvironment({ TOLLGATE_MASTER_KEY_FILE: join(dir, 'data', 'master.key') })
  const child = new Child(process.execPath, words, env)
  let peak = 0
  const look = setInterval(() => {
    try {
      const status = readFileSync(`/proc/${child.pid}/status`, 'utf8')
      peak = Number(/VmHWM:\s+(\d+)/.exec(status)?.[1] ?? 0) / 1024 || peak
    } catch {
      // It has ended.
    }
  }, LOOK)
  const { code } = await child.exited
  clearInterval(look)
  if (code !== 0) throw new Error(child.stderr)
  const { taken } = JSON.parse(child.stdout) as { taken: { what: string; written: number }[] }
  const written = Object.fromEntries(taken.map(({ what, written }) => [what, written]))
  return { seconds: (performance.now() - begin) / 1000, peak, written }
}

/** What each table of a schema holds. */
async function digest(client: pg.Client, schema: string): Promise<string> {
  const { rows } = await client.query<{ name: string }>(
    `SELECT relname AS name FROM pg_class WHERE relnamespace = $1::regnamespace AND relkind IN ('r', 'p') AND NOT relispartition ORDER BY 1`,
    [schema],
  )
  const found: string[] = []
  for (const { name } of rows) {
    const sums = await client.query(
      `SELECT count(*) AS rows, sum(hashtextextended(t::text, 0)) AS sum FROM ${schema}.${name} AS t`,
    )
    found.push(`${name} ${JSON.stringify(sums.rows[0])}`)
  }
  return found.join('\n')
}

async function move(
  client: pg.Client,
  schema: string,
  rows: number,
): Promise<readonly [first: Run, again: Run]> {
  const processes = new Processes()
  const dir = dirname(processes.dataDir)
  try {
    processes.write({
      ...configFor('127.0.0.1:1'),
      'gateway.yaml': `postgres: { url: "${server.url}", schema: ${schema} }`,
    })
    await fill(processes.dataDir, { endpoints: ENDPOINTS, wanted: 100, network: 'eth' })
    const endpointIds = Array.from({ length: USED }, (_, i) => `ep_used_${i}`)
    const hours = Math.ceil(rows / USED / METHODS)
    const until = Math.floor(Date.now() / 1000)
    fillUsageFile(processes.dataDir, [{ accountId: 'acc_used', endpointIds, methods: METHODS, hours, until }])
    const first = await migrate(dir)
    const { rows: there } = await client.query(
      `SELECT (SELECT count(*) FROM ${schema}.endpoint)::int AS endpoints, (SELECT sum(requests) FROM ${schema}.usage)::int AS usage,
         (SELECT sum(requests) FROM ${schema}.total)::int AS totals`,
    )
    const sum = hours * USED * METHODS
    const expected = JSON.stringify({ endpoints: ENDPOINTS, usage: sum, totals: sum })
    if (JSON.stringify(there[0]) !== expected)
      throw new Error(`${JSON.stringify(there[0])} is there, not ${expected}`)
    const before = await digest(client, schema)
    const again = await migrate(dir)
    if ((await digest(client, schema)) !== before) throw new Error('a second time changed something')
    return [first, again]
  } finally {
    await processes.stop()
  }
}

const client = new pg.Client({ connectionString: server.url })
try {
  await client.connect()
  for (const rows of [ROWS / 4, ROWS]) {
    const [first, again] = await move(client, `rows_${rows}`, rows)
    console.log(`${ENDPOINTS} endpoints, ${rows} rows of usage
| seconds, and written of accounts and usage | ${first.seconds.toFixed(1)}, ${first.written['accounts']} and ${first.written['usage']} |
| seconds of a second time, and written | ${again.seconds.toFixed(1)}, ${again.written['accounts']} and ${again.written['usage']} |
| most memory (RSS), first and second time | ${first.peak.toFixed(0)} MB, ${again.peak.toFixed(0)} MB |`)
  }
} finally {
  await client.end()
  for (const end of endings) await end()
}
