/** A thread that answers queries of all nodes, one at a time, from a connection of its own. */
import { setPriority } from 'node:os'
import { parentPort, workerData } from 'node:worker_threads'
import pg from 'pg'
import type { PostgresConfig } from '../../../../config/fleet.ts'
import { DatabaseSync } from '../../../sqlite/driver.ts'
import { journalFile } from '../../../sqlite/usage/schema.ts'
import { answer } from '../../../sqlite/usage/sums/answer.ts'
import { TooManyGroups } from '../../../sqlite/usage/sums/groups.ts'
import { Scan, TookTooLong } from '../../../sqlite/usage/sums/scan.ts'
import type { WorkerReply } from '../../../sqlite/usage/sums/worker.ts'
import { STEP } from '../../../../ports/ledger.ts'
import type { SumsPage, SumsQuery } from '../../../../ports/ledger.ts'
import { isJudged } from '../../postgres.ts'
import { copyUsage, runOn } from '../copy.ts'
import type { Wanted } from '../copy.ts'

/** What the thread is started with. */
export interface FleetWorkerData {
  readonly postgres: PostgresConfig
  /** Milliseconds that a query may take. */
  readonly limit: number
}

/** Of the thread, where the system has priorities of threads: calls go first when there are not enough cores. */
const NICE = 5
/** SQLSTATE of a statement that took too long. */
const CANCELED = '57014'

const { postgres, limit } = workerData as FleetWorkerData
if (process.platform === 'linux') setPriority(NICE)
let client: pg.Client | null = null

parentPort?.on('message', (query: SumsQuery) => {
  void reply(query).then(said => parentPort?.postMessage(said))
})

async function reply(query: SumsQuery): Promise<WorkerReply> {
  const end = performance.now() + limit
  try {
    return { answer: await sum(query, end) }
  } catch (error) {
    if (error instanceof TookTooLong || codeOf(error) === CANCELED) {
      await leave()
      return { answer: 'too_long' }
    }
    if (error instanceof TooManyGroups) return { answer: 'too_many_groups' }
    await leave()
    return isJudged(error) ? { bug: (error as Error).stack ?? String(error) } : { answer: 'away' }
  }
}

async function sum(query: SumsQuery, end: number): Promise<SumsPage> {
  const memory = new DatabaseSync(':memory:')
  try {
    memory.exec(journalFile.tables)
    const expired = (): void => {
      if (performance.now() > end) throw new TookTooLong()
    }
    await copyUsage(runOn(await connection()), memory, wantedFor(query), expired)
    // PostgreSQL has chosen by them, and has put together what they would choose by.
    const asked = { ...query, endpointId: null, network: null, method: null, accountId: null }
    return answer(asked, new Scan(memory, asked, () => performance.now() > end))
  } finally {
    memory.close()
  }
}

/** What of the rows an answer is made of. */
function wantedFor({ groupBy, detail, by, after, from, to, ...chosen }: SumsQuery): Wanted {
  const hasReasons = groupBy.includes('reason')
  const begin = groupBy[0] === 'time' && typeof after?.[0] === 'number' ? Math.max(from, after[0]) : from
  const without = (['account', 'endpoint', 'method', 'network'] as const).filter(
    // The reasons of a row are in the order of its endpoints, and those of an account have one name.
    column =>
      !groupBy.includes(column) && !(detail && column === 'endpoint') && !(detail && column === 'account'),
  )
  return {
    ...chosen,
    from: begin,
    to,
    step: groupBy.includes('time') ? STEP[by] : null,
    without: [...without, 'plan', ...(hasReasons || detail ? [] : (['reason'] as const))],
    usage: !hasReasons,
    latency: detail,
    refusals: hasReasons || detail,
  }
}

/** The connection that is open, or a new one. */
async function connection(): Promise<pg.Client> {
  if (client !== null) return client
  const opened = new pg.Client({
    connectionString: postgres.url,
    connectionTimeoutMillis: postgres.timeout,
    statement_timeout: limit,
    query_timeout: limit + postgres.timeout,
    keepAlive: true,
    application_name: 'tollgate',
    options: `-c search_path=${postgres.schema},pg_temp`,
  })
  opened.on('error', () => {
    if (client === opened) client = null
  })
  await opened.connect()
  return (client = opened)
}

/** Behind a failure nobody knows what the connection is in the middle of. */
async function leave(): Promise<void> {
  const left = client
  client = null
  await left?.end().catch(() => undefined)
}

function codeOf(error: unknown): unknown {
  return (error as { readonly code?: unknown } | null)?.code
}
