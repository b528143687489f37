import { randomBytes } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import t from 'tap'
import { DatabaseSync } from '../../../src/stores/sqlite/driver.ts'
import { openUsageDatabase } from '../../../src/stores/sqlite/usage/database.ts'

const PAGE = 4096

t.test('a damaged list of unused pages stops the start, before a write would fail', t => {
  const dataDir = t.testdir()
  const file = join(dataDir, 'journal.db')
  openUsageDatabase(dataDir).close()
  const database = new DatabaseSync(file)
  database.exec('CREATE TABLE big (x); INSERT INTO big VALUES (zeroblob(20000)); DROP TABLE big')
  database.close()
  openUsageDatabase(dataDir).close()

  // https://sqlite.org/fileformat.html, sections 1.3.9 and 1.5: the header names the first page of the list.
  const whole = readFileSync(file)
  const first = whole.readUInt32BE(32)
  t.ok(first > 1, 'there are unused pages')
  const torn = Buffer.from(whole)
  torn.set(randomBytes(PAGE), (first - 1) * PAGE)
  writeFileSync(file, torn)
  t.throws(() => openUsageDatabase(dataDir), { message: /journal\.db is damaged: .*Freelist/ })
  t.ok(readFileSync(file).equals(torn), 'and the file is left as it is')

  writeFileSync(file, whole)
  openUsageDatabase(dataDir).close()
  t.end()
})
