import type { DatabaseSync } from '../driver.ts'
import { OPERATOR } from '../../../ports/audit.ts'
import type { Author, Happening } from '../../../ports/audit.ts'
import type { AuditTable } from './audit.ts'
import type { OnceTable } from './once.ts'
import type { Transactions } from './transactions.ts'

/** Called with the keys, in clear, that no longer stand for what they stood for. */
export type ChangeListener = (keys: readonly string[]) => void

/** One change while it is written. */
export interface Change {
  /** Adds a key that it changes, in clear. */
  touch(apiKey: string): void
  /** Writes an entry of the audit trail. */
  note(happening: Happening): void
}

/** What changes are written with. */
export interface ChangesParts {
  readonly transactions: Transactions
  readonly audit: AuditTable
  readonly once: OnceTable
  /** Unix seconds. */
  readonly now: () => number
}

/** Writes accounts and endpoints with their audit trail, reports what each write has changed to those who remember keys, and counts the writes for other processes. */
export class Changes {
  readonly #parts: ChangesParts
  readonly #listeners = new Set<ChangeListener>()
  readonly #sql
  #dataVersion: number
  /** Writes made here, and by others as far as `changedElsewhere` has seen them. */
  #own = 0
  #others: number

  /** The holder keeps the database referenced. */
  constructor(database: DatabaseSync, parts: ChangesParts) {
    this.#parts = parts
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

  /** Runs `work` in one transaction. */
  write<T>(work: (change: Change) => T, { actor }: Author = OPERATOR): Promise<T> {
    const { transactions, audit, now } = this.#parts
    const changed: string[] = []
    let counted = 0
    const change: Change = {
      touch: apiKey => {
        changed.push(apiKey)
      },
      note: happening => {
        audit.insert(now(), actor, happening)
      },
    }
    return transactions.run(
      () => {
        const before = this.#rowsWritten()
        const result = work(change)
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

  /** The same for what is carried out once, however often it is sent; a word is a refusal. */
  writeOnce<T extends object | string>(
    work: (change: Change) => T,
    by: Author = OPERATOR,
  ): Promise<T | 'other_request'> {
    const { once } = by
    return this.write<T | 'other_request'>(
      change => (once === undefined ? work(change) : this.#parts.once.run(once, () => work(change))),
      by,
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

  /** What this connection has taken in was changed elsewhere, too, and does not move its data version. */
  takenIn(): void {
    this.#dataVersion = -1
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
