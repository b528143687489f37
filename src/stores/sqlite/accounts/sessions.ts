import { randomBytes } from 'node:crypto'
import { BoundedCache } from '../../../limits/bounded-cache.ts'
import {
  MOST_SESSIONS,
  SESSION_IDLE,
  SESSION_LIFE,
  SESSIONS_PER_ACCOUNT,
  USE_RECORDED_EVERY,
} from '../../../ports/sessions.ts'
import type { Sessions } from '../../../ports/sessions.ts'
import type { SignIn } from '../../../ports/keys.ts'
import { hashKey } from './hash.ts'
import type { SessionTable } from './session-table.ts'
import type { Transactions } from './transactions.ts'

/** 256 bits, as base64url. */
const ID = /^[\w-]{43}$/

/** The port Sessions on accounts.db, which holds the SHA-256 of an id and never the id. */
export class SqliteSessions implements Sessions {
  readonly #table: SessionTable
  readonly #transactions: Transactions
  /** By hash in hex, the last use that this process has tried to record: it counts while the file cannot be written, too. */
  readonly #used = new BoundedCache<number>(MOST_SESSIONS)

  constructor(table: SessionTable, transactions: Transactions) {
    this.#table = table
    this.#transactions = transactions
  }

  async open(signIn: SignIn, now: number): Promise<string> {
    const id = randomBytes(32).toString('base64url')
    await this.#transactions.run(() => {
      this.#table.removeEnded(now - SESSION_IDLE, now - SESSION_LIFE)
      this.#table.keep(signIn.accountId, { ofAccount: SESSIONS_PER_ACCOUNT - 1, ofAll: MOST_SESSIONS - 1 })
      this.#table.insert(hashKey(id), signIn, now)
    })
    return id
  }

  find(id: string, now: number): SignIn | null {
    if (!ID.test(id)) return null
    const idHash = hashKey(id)
    const row = this.#table.find(idHash)
    if (row === null) return null
    const usedAt = Math.max(row.usedAt, this.#used.get(idHash.toString('hex')) ?? 0)
    if (now - usedAt >= SESSION_IDLE || now - row.openedAt >= SESSION_LIFE) return null
    if (now - usedAt >= USE_RECORDED_EVERY) this.#use(idHash, now)
    return row.signIn
  }

  async end(id: string): Promise<void> {
    if (!ID.test(id)) return
    const idHash = hashKey(id)
    // Anybody may send any id: one that is not there is not worth a lock.
    if (this.#table.find(idHash) === null) return
    await this.#transactions.run(() => {
      this.#table.remove(idHash)
    })
  }

  #use(idHash: Buffer, now: number): void {
    this.#used.set(idHash.toString('hex'), now)
    const recording = this.#transactions.run(() => {
      this.#table.use(idHash, now)
    })
    // It is tried again after the next minute; whoever signs in or changes something meanwhile hears why.
    recording.catch(() => undefined)
  }
}
