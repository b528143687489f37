import type { DatabaseSync } from '../driver.ts'
import { explainFailure } from '../error.ts'
import { PATIENCE, whenFree } from '../patience.ts'
import { OpenedFile } from '../place.ts'
import { inTransaction } from '../transaction.ts'

/** The write transactions of one connection, in the order they were asked for. */
export class Transactions {
  readonly #database: DatabaseSync
  readonly #file: string
  readonly #opened: OpenedFile
  // One waits for the lock at a time: a crowd of waiters would burn the processor and overtake each other.
  #last: Promise<unknown> = Promise.resolve()

  constructor(database: DatabaseSync, file: string) {
    this.#database = database
    this.#file = file
    this.#opened = new OpenedFile(file)
  }

  /** Runs `work` in one transaction, all or nothing, and `committed` in the same turn as the commit. */
  run<T>(work: () => T, committed: () => void): Promise<T> {
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
      throw this.#database.isOpen ? explainFailure(this.#file, error) : new Error(`${this.#file} was closed`)
    }
    const fate = this.#opened.fate()
    if (fate !== null) throw new Error(`${this.#file} was ${fate} while it was open: the change is lost`)
    committed()
    return result
  }
}
