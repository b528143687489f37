/** Identifies the database files of Tollgate, and creates their tables. */
import type { DatabaseSync } from './driver.ts'

/** One kind of file that we keep. */
export interface Kind {
  /** Its file name in dataDir. */
  readonly name: string
  /** Marks the file as ours (`PRAGMA application_id`). */
  readonly applicationId: number
  /** Version of the tables (`PRAGMA user_version`). A change of the tables needs the next one; a file of another version is refused. */
  readonly version: number
  /** SQL that creates the tables. */
  readonly tables: string
}

/** Whether the file is of this kind or still empty; read before anything is written to it. */
export function isOurs(database: DatabaseSync, { applicationId }: Kind): boolean {
  // In this order: tables and application id appear in one commit.
  return isEmpty(database) || pragma(database, 'application_id') === applicationId
}

/** Whether nothing is in the file yet: a first start is making it, or was killed meanwhile. */
export function isEmpty(database: DatabaseSync): boolean {
  const { tables } = database.prepare('SELECT count(*) AS tables FROM sqlite_schema').get() as {
    tables: number
  }
  return tables === 0
}

/** Creates the tables in an empty file. Runs in a write transaction. */
export function createTables(database: DatabaseSync, kind: Kind): void {
  if (!isEmpty(database)) {
    refuseOtherVersion(database, kind)
    return
  }
  const { applicationId, version, tables } = kind
  database.exec(`${tables}; PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${version}`)
}

/** Throws when the tables are those of another version. */
export function refuseOtherVersion(database: DatabaseSync, { name, version }: Kind): void {
  const found = pragma(database, 'user_version')
  if (found === version || isEmpty(database)) return
  const writer = found > version ? 'a newer' : 'an older'
  throw new Error(`${name} was written by ${writer} Tollgate (schema ${found}, this version uses ${version})`)
}

/** Whether the tables are those of this version. */
export function hasTables(database: DatabaseSync, { version }: Kind): boolean {
  return pragma(database, 'user_version') === version
}

function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return (database.prepare(`PRAGMA ${name}`).get() as Record<typeof name, number>)[name]
}
