import t from 'tap'
import { DatabaseSync, hasOwnSqlite } from '../../../src/stores/sqlite/driver.ts'

t.test('Node.js has its own from the first version that does not warn of it', t => {
  const table: readonly (readonly [string, boolean])[] = [
    ['20.19.0', false],
    ['22.23.3', false],
    ['24.14.0', false],
    ['24.15.0', true],
    ['25.6.1', false],
    ['25.7.0', true],
    ['26.0.0', true],
    ['30.1.0', true],
  ]
  for (const [version, expected] of table) t.equal(hasOwnSqlite(version), expected, version)
  t.end()
})

t.test('bug: a text was bound up to its first NUL, so that one id stood for many', t => {
  const database = new DatabaseSync(':memory:')
  database.exec("CREATE TABLE one (id TEXT NOT NULL) STRICT; INSERT INTO one VALUES ('acc_1')")
  const find = database.prepare('SELECT id FROM one WHERE id = ?')
  t.match(find.get('acc_1'), { id: 'acc_1' })
  t.equal(find.get('acc_1\0x'), undefined)
  t.equal(find.all('acc_1\0').length, 0)
  t.strictSame([...find.iterate('acc_1\0')], [])
  t.equal(database.prepare('DELETE FROM one WHERE id = ?').run('acc_1\0').changes, 0)
  database.close()
  t.end()
})

t.test('a failure carries the extended result code of SQLite', t => {
  const database = new DatabaseSync(':memory:')
  database.exec('CREATE TABLE one (n INTEGER NOT NULL) STRICT')
  try {
    database.prepare('INSERT INTO one VALUES (NULL)').run()
    t.fail('it is refused')
  } catch (error) {
    // SQLITE_CONSTRAINT_NOTNULL
    t.match(error, { errcode: 1299 })
  }
  database.close()
  t.end()
})
