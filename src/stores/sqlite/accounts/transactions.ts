import { StoreUnavailable } from '../../../ports/store-unavailable.ts'
import type { DatabaseSync } from '../driver.ts'
import type { OpenDatabase } from './database.ts'
import { explainFailure } from '../error.ts'
import { PATIENCE, whenFree } from '../patience.ts'
import { FileLost } from '../place.ts'
import type { OpenedDatabase } from '../place.ts'
import { inTransaction } from '../transaction.ts'

/** How accounts.db is written: by one door, in the order that is asked for. */
export interface Transactions {
  /** Runs `work` in one transaction, all or nothing, and `committed` in the same turn as the commit. */
  run<T>(work: () => T, committed?: () => void): Promise<T>
}

/** The write transactions of one connection to a file that is the only place of accounts. */
export class FileTransactions implements Transactions {
  readonly #database: DatabaseSync
  readonly #file: string
  readonly #opened: OpenedDatabase
  // One waits for the lock at a time: a crowd of waiters would burn the processor and overtake each other.
  #last: Promise<unknown> = Promise.resolve()

  constructor({ database, file, opened }: OpenDatabase) {
    this.#database = database
    this.#file = file
    this.#opened = opened
  }

  run<T>(work: () => T, committed: () => void = () => undefined): Promise<T> {
    const deadline = performance.now() + PATIENCE
    const result = this.#last.then(() => this.#transact(work, committed, deadline))
    this.#last = result.catch(() => undefined)
    return result
  }

  async #transact<T>(work: () => T, committed: () => void, deadline: number): Promise<T> {
    let result: T
    try {
      result = await whenFree(() => inTransaction(this.#database, work), deadline)
    } catch (error) {
      if (!this.#database.isOpen) throw new Error(`${this.#file} was closed`, { cause: error })
      throw this.#lost() ?? explainFailure(this.#file, error)
    }
    const lost = this.#lost()
    if (lost !== null) throw lost
    committed()
    return result
  }

  #lost(): Error | null {
    return this.#opened.lost(': the change is lost')
  }
}

/** The same, wherever they go, for whoever asks for a change: one that this file would not keep is refused with StoreUnavailable. */
export class SafeTransactions implements Transactions {
  readonly #transactions: Transactions
  #refused: Error | null = null

  constructor(transactions: Transactions) {
    this.#transactions = transactions
  }

  /** Why nothing is written any more; null while all is well. */
  get refused(): Error | null {
    return this.#refused
  }

  /** From now on nothing is written. */
  refuse(reason: Error): void {
    this.#refused = reason
  }

  async run<T>(work: () => T, committed?: () => void): Promise<T> {
    try {
      // It may have waited in line meanwhile.
      return await this.#transactions.run(() => {
        if (this.#refused !== null) throw this.#refused
        return work()
      }, committed)
    } catch (error) {
      const reason = error instanceof FileLost ? error : error === this.#refused ? this.#refused : null
      throw reason === null ? error : new StoreUnavailable(reason.message, { cause: reason })
    }
  }
}
