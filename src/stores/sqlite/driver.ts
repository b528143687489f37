/** SQLite, from Node.js itself where its module is past the experiment, else from the package that has the same interface. */
import { createRequire } from 'node:module'
import type * as sqlite from '@photostructure/sqlite'

/** node:sqlite is a release candidate since these versions, and prints no warning at each start. */
const SINCE: readonly (readonly [major: number, minor: number])[] = [
  [24, 15],
  [25, 7],
]

/** Whether a version of Node.js has a `node:sqlite` to rely on. */
export function hasOwnSqlite(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  const since = SINCE.find(([line]) => line === major)
  return since === undefined ? major > 25 : minor >= since[1]
}

const require = createRequire(import.meta.url)

/** A connection to a database file, and a copy of one page by page on another thread, used as https://nodejs.org/api/sqlite.html says. */
export const { DatabaseSync, backup } = require(
  hasOwnSqlite(process.versions.node) ? 'node:sqlite' : '@photostructure/sqlite',
) as Pick<typeof sqlite, 'DatabaseSync' | 'backup'>
export type DatabaseSync = sqlite.DatabaseSyncInstance
export type StatementSync = sqlite.StatementSyncInstance
