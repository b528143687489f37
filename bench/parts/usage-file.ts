/** Fills a journal.db for the endpoints in the accounts.db beside it. Arguments: the data directory, and about how many rows. */
import { closeSync, fsyncSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from '@photostructure/sqlite'
import { closeFile } from '../../src/sqlite/file.ts'
import { openUsageDatabase } from '../../src/usage/database.ts'
import { windowAt } from '../../src/usage/window.ts'
import { fillUsage } from '../../test/support/usage-rows.ts'

const METHODS = 10

const [dataDir = '', wanted] = process.argv.slice(2)
const file = join(dataDir, 'journal.db')
const accounts = new DatabaseSync(join(dataDir, 'accounts.db'), { readOnly: true })
const rows = accounts.prepare('SELECT id, account_id AS accountId FROM endpoint ORDER BY id').all()
accounts.close()
const endpoints = rows as { id: string; accountId: string }[]
const until = Math.floor(Date.now() / 1000)
// Every endpoint has all methods in as many of the last hours as it takes.
const rest = { methods: METHODS, hours: Math.ceil(Number(wanted) / endpoints.length / METHODS), until }

openUsageDatabase(dataDir).close()
fillUsage(
  dataDir,
  endpoints.map(({ id, accountId }) => ({ accountId, endpointIds: [id], ...rest })),
)
const database = new DatabaseSync(file)
// What the accounts have used of this month's quota.
const { start } = windowAt('month', 0, Date.now())
database.exec(`INSERT INTO windows SELECT account, ${start}, sum(requests) FROM totals GROUP BY account`)
closeFile(database)
// Otherwise the first figures would be those of a system that writes a file of a gigabyte.
const descriptor = openSync(file, 'r')
fsyncSync(descriptor)
closeSync(descriptor)
