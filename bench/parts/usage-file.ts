/**
 * Fills a journal.db with the accounts on standard input (usage-rows.ts), as JSON. Argument: the data directory. It is a process of its own since
 * SQLite locks a file that is closed, which happens when its connection is collected as garbage.
 */
import { closeSync, fsyncSync, openSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'
import { closeFile } from '../../src/stores/sqlite/file.ts'
import { openUsageDatabase } from '../../src/stores/sqlite/usage/database.ts'
import { windowAt } from '../../src/limits/window.ts'
import { fillUsage } from '../../test/support/usage-rows.ts'
import type { FilledAccount } from '../../test/support/usage-rows.ts'

const [dataDir = ''] = process.argv.slice(2)
const file = join(dataDir, 'journal.db')
openUsageDatabase(dataDir).close()
fillUsage(dataDir, JSON.parse(readFileSync(0, 'utf8')) as FilledAccount[])
const database = new DatabaseSync(file)
// What the accounts have used of this month's quota.
const { start } = windowAt('month', 0, Date.now())
database.exec(`INSERT INTO windows SELECT account, ${start}, sum(requests) FROM totals WHERE true GROUP BY account
  ON CONFLICT DO UPDATE SET requests = excluded.requests`)
closeFile(database)
// Otherwise the first figures would be those of a system that writes a file of a gigabyte.
const descriptor = openSync(file, 'r')
fsyncSync(descriptor)
closeSync(descriptor)
