import type { OpenDatabase } from './database.ts'
import { Transactions } from './transactions.ts'

/** Called with the keys, in clear, that no longer stand for what they stood for. */
export type ChangeListener = (keys: readonly string[]) => void

/** Writes to accounts.db, and reports what each write has changed to those who remember keys. */
export class Changes {
  readonly #transactions: Transactions
  readonly #listeners = new Set<ChangeListener>()

  constructor(open: OpenDatabase) {
    this.#transactions = new Transactions(open)
  }

  /** Whether anybody remembers keys. */
  get isHeard(): boolean {
    return this.#listeners.size > 0
  }

  /** Runs `work` in one transaction; it adds the keys that it changes to `changed`. */
  write<T>(work: (changed: string[]) => T): Promise<T> {
    const changed: string[] = []
    return this.#transactions.run(
      () => work(changed),
      () => changed.length > 0 && this.#listeners.forEach(listener => listener(changed)),
    )
  }

  /** Calls `listener` in the turn that commits a change; returns how to stop. */
  onChange(listener: ChangeListener): () => void {
    this.#listeners.add(listener)
    return () => void this.#listeners.delete(listener)
  }
}
