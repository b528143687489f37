/** Reads a copy of a data directory from its first page to its last, and sums it up. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { accountsFile } from '../accounts/schema.ts'
import { DatabaseSync } from '../driver.ts'
import { explainFailure } from '../error.ts'
import { checkFile } from '../file.ts'
import { isOurs, refuseOtherVersion } from '../schema.ts'
import type { Kind } from '../schema.ts'
import { OtherJournals } from '../usage/journals/outside.ts'
import { journalFile } from '../usage/schema.ts'

/** What a data directory holds: usage of all accounts since the beginning, what no ledger has taken over included. */
export interface Sums {
  readonly accounts: number
  readonly endpoints: number
  readonly calls: number
  readonly requests: number
}

/** Makes a copy one file without a log, so that reading it makes none, and reads every page; throws a sentence where it is damaged. */
export function checkCopy(dir: string, name: string): void {
  const file = join(dir, name)
  const kind = kindOf(name)
  withFile(file, false, database => {
    database.exec('PRAGMA journal_mode = DELETE')
    refuseOtherVersion(database, kind)
    if (!isOurs(database, kind)) throw new Error(`${file} is a database of another program`)
    checkFile(database, file)
  })
}

/** Sums a copy up. */
export function sumUp(dir: string): Sums {
  const { accounts, endpoints } = withFile(join(dir, accountsFile.name), true, database => ({
    accounts: count(database, 'SELECT count(*) AS n FROM account'),
    endpoints: count(database, "SELECT count(*) AS n FROM endpoint WHERE status <> 'deleted'"),
  }))
  const ledger = join(dir, journalFile.name)
  if (!existsSync(ledger)) return { accounts, endpoints, calls: 0, requests: 0 }
  return withFile(ledger, true, database =>
    new OtherJournals(database, dir, 0).at(() => ({
      accounts,
      endpoints,
      calls: count(database, 'SELECT coalesce(sum(calls), 0) AS n FROM totals_now'),
      requests: count(database, 'SELECT coalesce(sum(requests), 0) AS n FROM totals_now'),
    })),
  )
}

function kindOf(name: string): Kind {
  return name === accountsFile.name ? accountsFile : journalFile
}

function count(database: DatabaseSync, sql: string): number {
  return (database.prepare(sql).get() as { n: number }).n
}

function withFile<T>(file: string, readOnly: boolean, work: (database: DatabaseSync) => T): T {
  let database: DatabaseSync | undefined
  try {
    database = new DatabaseSync(file, { readOnly })
    return work(database)
  } catch (error) {
    throw explainFailure(file, error)
  } finally {
    database?.close()
  }
}
