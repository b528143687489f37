/** Which of our files a database is, and bringing it up to date. */
import type { DatabaseSync } from './driver.ts'

/** One kind of file that we keep. */
export interface Kind {
  /** Its file name in dataDir. */
  readonly name: string
  /** Marks the file as ours (`PRAGMA application_id`). */
  readonly applicationId: number
  /** One step a version: version n is what the first n make. Steps are added, never edited. */
  readonly steps: readonly string[]
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

/** Brings the schema up to date. Runs in a write transaction. */
export function migrate(database: DatabaseSync, kind: Kind): void {
  const { applicationId, steps } = kind
  const version = pragma(database, 'user_version')
  refuseNewer(database, kind)
  if (version === steps.length) return
  for (const step of steps.slice(version)) database.exec(step)
  database.exec(`PRAGMA application_id = ${applicationId}; PRAGMA user_version = ${steps.length}`)
}

/** Throws when the schema is one that this version does not know. */
export function refuseNewer(database: DatabaseSync, { name, steps }: Kind): void {
  const version = pragma(database, 'user_version')
  if (version > steps.length)
    throw new Error(`${name} was written by a newer Tollgate (schema ${version}, here ${steps.length})`)
}

/** Whether the schema is the one this version writes. */
export function isUpToDate(database: DatabaseSync, { steps }: Kind): boolean {
  return pragma(database, 'user_version') === steps.length
}

function pragma(database: DatabaseSync, name: 'application_id' | 'user_version'): number {
  return (database.prepare(`PRAGMA ${name}`).get() as Record<typeof name, number>)[name]
}
