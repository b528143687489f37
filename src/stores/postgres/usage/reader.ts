/** Reads usage of all gateways for a command: from a copy of what it asks about, which the reader of journal.db reads. */
import { rmSync } from 'node:fs'
import { mkdtemp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { PostgresConfig } from '../../../config/fleet.ts'
import { StoreUnavailable } from '../../../ports/store-unavailable.ts'
import { openUsageDatabase } from '../../sqlite/usage/database.ts'
import { openUsageReader } from '../../sqlite/usage/reader.ts'
import type { OpenReader } from '../../sqlite/usage/reader.ts'
import { isJudged } from '../postgres.ts'
import { copySums, copyUsage, runOn } from './copy.ts'
import type { Wanted } from './copy.ts'

/** What a command reads. */
export interface Reading {
  readonly accountId: string | null
  /** Rows of these hours; null for totals and windows alone. */
  readonly rows: (Pick<Wanted, 'from' | 'to' | 'step'> & { readonly detail: boolean }) | null
  /** Quota windows that began then (Unix seconds). */
  readonly windows: { readonly from: number; readonly to: number } | null
}

/** Copies it to a directory of its own; rejects with StoreUnavailable. The copy is removed when the reader is closed. */
export async function openFleetReader(config: PostgresConfig, reading: Reading): Promise<OpenReader> {
  const dir = await mkdtemp(join(tmpdir(), 'tollgate-usage-'))
  const remove = (): void => {
    rmSync(dir, { recursive: true, force: true })
  }
  // A command that is interrupted leaves nothing.
  process.once('exit', remove)
  try {
    await copyTo(dir, config, reading)
    const reader = openUsageReader(dir)
    return {
      ...reader,
      close: () => {
        reader.close()
        remove()
        process.off('exit', remove)
      },
    }
  } catch (error) {
    remove()
    process.off('exit', remove)
    throw error
  }
}

async function copyTo(
  dir: string,
  config: PostgresConfig,
  { accountId, rows, windows }: Reading,
): Promise<void> {
  const client = new pg.Client({
    connectionString: config.url,
    connectionTimeoutMillis: config.timeout,
    keepAlive: true,
    application_name: 'tollgate',
    options: `-c search_path=${config.schema},pg_temp`,
  })
  client.on('error', () => undefined)
  const database = openUsageDatabase(dir)
  try {
    await client.connect()
    const run = runOn(client)
    const any = { accountId, endpointId: null, network: null, method: null, without: [] }
    if (rows !== null)
      await copyUsage(run, database.database, {
        ...any,
        ...rows,
        usage: true,
        latency: rows.detail,
        refusals: rows.detail,
      })
    await copySums(run, database.database, { accountId, ...(windows ?? { from: 0, to: 0 }) })
  } catch (error) {
    if (isJudged(error)) throw error
    const why = error instanceof Error ? error.message : String(error)
    throw new StoreUnavailable(`PostgreSQL cannot be reached: ${why}`, { cause: error })
  } finally {
    database.close()
    await client.end().catch(() => undefined)
  }
}
