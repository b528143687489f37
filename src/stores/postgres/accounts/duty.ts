/**
 * What one gateway of all does at a time: a lease in PostgreSQL, by its clock. A session lock would do the same with less, but not behind a pooler that
 * gives the connection to another after each transaction.
 */
import { randomUUID } from 'node:crypto'
import type { Postgres } from '../postgres.ts'

/** How long it is held without being renewed, how often it is renewed or tried for, and how long it counts here, in milliseconds. */
const LEASE = 10_000
const RENEW = 3_000
const COUNTS = 7_000

/** One duty of this gateway, or of another. */
export class Duty {
  readonly #postgres: Pick<Postgres, 'query'>
  readonly #name: string
  readonly #isWanted: () => boolean
  readonly #self = randomUUID()
  readonly #timer: NodeJS.Timeout
  /** When it was last renewed, by the monotonic clock. */
  #renewedAt = -Infinity
  #trying: Promise<void>

  /** A gateway for which `isWanted` is false neither takes it nor keeps it. */
  constructor(postgres: Pick<Postgres, 'query'>, name: string, isWanted: () => boolean = () => true) {
    this.#postgres = postgres
    this.#name = name
    this.#isWanted = isWanted
    // The caller may still be composing what `isWanted` reads.
    this.#trying = Promise.resolve().then(() => this.#try())
    this.#timer = setInterval(() => {
      this.#trying = this.#trying.then(() => this.#try())
    }, RENEW)
    this.#timer.unref()
  }

  /** Whether it is this gateway's now. */
  get isHeld(): boolean {
    return performance.now() - this.#renewedAt < COUNTS
  }

  /** Leaves it to another. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#trying
    await this.#leave()
  }

  async #leave(): Promise<void> {
    if (!this.isHeld) return
    this.#renewedAt = -Infinity
    const sql = 'DELETE FROM duty WHERE name = $1 AND holder = $2'
    await this.#postgres.query(sql, [this.#name, this.#self]).catch(() => undefined)
  }

  async #try(): Promise<void> {
    if (!this.#isWanted()) {
      await this.#leave()
      return
    }
    const at = performance.now()
    try {
      const held = await this.#postgres.query(
        `INSERT INTO duty VALUES ($1, $2, now() + $3 * interval '1 ms')
         ON CONFLICT (name) DO UPDATE SET holder = excluded.holder, until = excluded.until
         WHERE duty.holder = excluded.holder OR duty.until < now() RETURNING 1`,
        [this.#name, this.#self, LEASE],
      )
      this.#renewedAt = held.length > 0 ? at : -Infinity
    } catch {
      // It counts for as long as nobody else can have it.
    }
  }
}
