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

const { DatabaseSync: Connection, backup } = require(
  hasOwnSqlite(process.versions.node) ? 'node:sqlite' : '@photostructure/sqlite',
) as Pick<typeof sqlite, 'DatabaseSync' | 'backup'>

/** A connection to a database file, and a copy of one page by page on another thread, used as https://nodejs.org/api/sqlite.html says. */
export { backup }
export type DatabaseSync = sqlite.DatabaseSyncInstance
export type StatementSync = sqlite.StatementSyncInstance

type Run = (this: StatementSync, ...values: unknown[]) => unknown

/**
 * The package binds a text up to its first NUL, so that `acc_1\0x` would find `acc_1`. As bytes it is whole: it equals no text, and a column of text
 * refuses it. The methods of its statements cannot be replaced where they are.
 */
class WholeTexts extends Connection {
  override prepare(...args: Parameters<DatabaseSync['prepare']>): StatementSync {
    return Object.defineProperties(super.prepare(...args), METHODS)
  }
}

const METHODS = Object.fromEntries(
  (['get', 'all', 'run', 'iterate'] as const).map(name => [name, { value: bindingWhole(name) }]),
)

function bindingWhole(name: 'get' | 'all' | 'run' | 'iterate'): Run {
  return function (...values) {
    const own = (Object.getPrototypeOf(this) as Readonly<Record<typeof name, Run>>)[name]
    if (!values.some(isCut)) return own.apply(this, values)
    const whole = values.map(value => (isCut(value) ? Buffer.from(value) : value))
    return own.apply(this, whole)
  }
}

function isCut(value: unknown): value is string {
  return typeof value === 'string' && value.includes('\0')
}

export const DatabaseSync: typeof Connection = hasOwnSqlite(process.versions.node) ? Connection : WholeTexts
