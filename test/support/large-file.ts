import { randomBytes } from 'node:crypto'
import { closeSync, openSync, readSync, writeSync } from 'node:fs'
import { DatabaseSync } from '../../src/stores/sqlite/driver.ts'

/** Bytes of a page of our databases. */
const PAGE = 4096

/** Adds some 70 MiB to a database that nobody has open, in a table of its own behind everything else: a start reads such a file in part only. */
export function enlarge(file: string): void {
  const database = new DatabaseSync(file)
  database.exec(`PRAGMA synchronous = OFF;
    CREATE TABLE filler (x);
    INSERT INTO filler WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 70000)
      SELECT zeroblob(1000) FROM n`)
  database.close()
}

/** Overwrites pages of a database, from `first` on (that of the header is 1); returns what puts back what was there. */
export function damage(file: string, first: number, count = 1): () => void {
  const at = (first - 1) * PAGE
  const whole = Buffer.alloc(count * PAGE)
  const opened = openSync(file, 'r')
  readSync(opened, whole, 0, whole.length, at)
  closeSync(opened)
  overwrite(file, randomBytes(whole.length), at)
  return () => {
    overwrite(file, whole, at)
  }
}

function overwrite(file: string, bytes: Buffer, at: number): void {
  const opened = openSync(file, 'r+')
  writeSync(opened, bytes, 0, bytes.length, at)
  closeSync(opened)
}
