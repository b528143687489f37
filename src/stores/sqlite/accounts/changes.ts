import type { DatabaseSync } from '../driver.ts'
import type { Transactions } from './transactions.ts'

/** Called with the keys, in clear, that no longer stand for what they stood for. */
export type ChangeListener = (keys: readonly string[]) => void

/** Writes accounts and endpoints, reports what each write has changed to those who remember keys, and counts the writes for other processes. */
export class Changes {
  readonly #transactions: Transactions
  readonly #listeners = new Set<ChangeListener>()
  readonly #sql
  #dataVersion: number
  /** Writes made here, and by others as far as `changedElsewhere` has seen them. */
  #own = 0
  #others: number

  /** The holder keeps the database referenced. */
  constructor(database: DatabaseSync, transactions: Transactions) {
    this.#transactions = transactions
    this.#sql = {
      dataVersion: database.prepare('PRAGMA data_version'),
      count: database.prepare('SELECT count FROM change'),
      written: database.prepare('SELECT total_changes() AS rows'),
      add: database.prepare('UPDATE change SET count = count + 1'),
    }
    this.#dataVersion = this.#readVersion()
    this.#others = this.#countOthers()
  }

  /** Whether anybody remembers keys. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  /** Runs `work` in one transaction; it adds the keys that it changes to `changed`. */
  write<T>(work: (changed: string[]) => T): Promise<T> {
    const changed: string[] = []
    let counted = 0
    return this.#transactions.run(
      () => {
        const before = this.#rowsWritten()
        const result = work(changed)
        // What was refused writes nothing, and is not worth a write.
        counted = this.#rowsWritten() === before ? 0 : 1
        if (counted > 0) this.#sql.add.run()
        return result
      },
      () => {
        this.#own += counted
        if (changed.length > 0) this.#listeners.forEach(listener => listener(changed))
      },
    )
  }

  /** Calls `listener` in the turn that commits a change; returns how to stop. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }

  /** Whether another process has changed an account or an endpoint since this was last asked. */
  changedElsewhere(): boolean {
    const version = this.#readVersion()
    // Most of the time nobody else has written anything, which costs no read of the file.
    if (version === this.#dataVersion) return false
    this.#dataVersion = version
    const others = this.#countOthers()
    const changed = others !== this.#others
    this.#others = others
    return changed
  }

  #countOthers(): number {
    return (this.#sql.count.get() as { count: number }).count - this.#own
  }

  #rowsWritten(): number {
    return (this.#sql.written.get() as { rows: number }).rows
  }

  #readVersion(): number {
    return (this.#sql.dataVersion.get() as { data_version: number }).data_version
  }
}
