/** What journals of other processes hold and the ledger has not taken over, for who reads the files from outside. */
import { join } from 'node:path'
import { DatabaseSync } from '../../driver.ts'
import { LATENCY_SUMS } from '../columns.ts'
import type { UsageCounter } from '../counters.ts'
import { unfoldedNow } from './unfolded.ts'
import { journalsIn } from './left.ts'

/** The views of schema.ts with these charges too; names of `temp` go before those of the file. */
const SETUP = `CREATE TEMP TABLE elsewhere (
    account TEXT, endpoint TEXT, network TEXT, method TEXT, hour INTEGER, calls INTEGER, requests INTEGER, plan TEXT,
    window INTEGER
  );
  CREATE TEMP VIEW usage_now AS SELECT * FROM main.usage_now
    UNION ALL SELECT account, endpoint, network, method, hour, calls, requests, 0, 0, 0, 0, plan, ${LATENCY_SUMS.map(() => '0').join(', ')} FROM temp.elsewhere;
  CREATE TEMP VIEW windows_now AS SELECT * FROM main.windows_now
    UNION ALL SELECT account, window, requests FROM temp.elsewhere WHERE window <> 0;
  CREATE TEMP VIEW totals_now AS SELECT * FROM main.totals_now
    UNION ALL SELECT account, endpoint, calls, requests FROM temp.elsewhere`

const HAS_CHARGES = "SELECT 1 FROM sqlite_schema WHERE name = 'charges'"

/** One place of a journal. */
interface Charges extends UsageCounter {
  readonly file: string
}

/** Reads them beside the ledger of a directory. */
export class OtherJournals {
  readonly #database: DatabaseSync
  readonly #dataDir: string
  readonly #patience: number
  #isReady = false

  /** `patience`: milliseconds that a read waits for a lock. */
  constructor(database: DatabaseSync, dataDir: string, patience: number) {
    this.#database = database
    this.#dataDir = dataDir
    this.#patience = patience
  }

  /**
   * Reads at one moment. The journals are read before the ledger: what is taken over in between is in the ledger then, with the place up to
   * which it is, and is passed over here.
   */
  at<T>(read: () => T): T {
    const charges = journalsIn(this.#dataDir).flatMap(file => this.#chargesOf(file))
    const database = this.#database
    if (charges.length > 0 && !this.#isReady) {
      database.exec(SETUP)
      this.#isReady = true
    }
    database.exec('BEGIN')
    try {
      if (this.#isReady) this.#fill(charges)
      return read()
    } finally {
      database.exec('COMMIT')
    }
  }

  #fill(charges: readonly Charges[]): void {
    const database = this.#database
    const rows = database.prepare('SELECT file, place FROM taken').all() as { file: string; place: number }[]
    const taken = new Map(rows.map(({ file, place }) => [file, place]))
    database.exec('DELETE FROM temp.elsewhere')
    const insert = database.prepare('INSERT INTO temp.elsewhere VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)')
    for (const { file, place, ...charge } of charges) {
      if (place <= (taken.get(file) ?? 0)) continue
      const { account, endpoint, network, method, hour, calls, requests, plan, window } = charge
      insert.run(account, endpoint, network, method, hour, calls, requests, plan, window)
    }
  }

  #chargesOf(file: string): Charges[] {
    let journal: DatabaseSync | undefined
    try {
      journal = new DatabaseSync(join(this.#dataDir, file), { readOnly: true, timeout: this.#patience })
      // A worker that starts has made the file, and not its tables yet.
      if (journal.prepare(HAS_CHARGES).get() === undefined) return []
      return unfoldedNow(journal, null).counters.map(counter => ({ ...counter, file }))
    } catch (error) {
      // One that has been taken over meanwhile is gone.
      if (!journalsIn(this.#dataDir).includes(file)) return []
      throw error
    } finally {
      journal?.close()
    }
  }
}
