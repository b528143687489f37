/** What accounts have used of their quota windows on the other gateways. */
import { BoundedCache } from '../../../limits/bounded-cache.ts'
import type { Postgres } from '../postgres.ts'

/** Windows that are remembered, and milliseconds for which one is that nobody asks about. */
const REMEMBERED = 100_000
const ASKED_FOR = 10 * 60_000
/** Windows that are read in one statement. */
const AT_ONCE = 1_000

/** A window, and what is known of it. */
interface Known {
  readonly account: string
  readonly start: number
  requests: number
  askedAt: number
  isRead: boolean
}

/** Reads it, and keeps it up to date for those who may not wait. */
export class OthersUsage {
  readonly #postgres: Postgres
  readonly #nodeId: () => string
  readonly #known = new BoundedCache<Known>(REMEMBERED)
  readonly #active = new Map<string, Known>()
  readonly #listeners: ((changed: readonly { account: string; start: number }[]) => void)[] = []
  #refreshing: Promise<void> | null = null

  /** `nodeId`: whose own rows do not count. */
  constructor(postgres: Postgres, nodeId: () => string) {
    this.#postgres = postgres
    this.#nodeId = nodeId
  }

  /** `listener` hears of windows of which others have used more than was known. */
  whenChanged(listener: (changed: readonly { account: string; start: number }[]) => void): void {
    this.#listeners.push(listener)
  }

  /** What the others had used by the last look: 0 before the first, which comes soon. `start` in Unix seconds. */
  known(account: string, start: number): number {
    const key = `${account} ${start}`
    let known = this.#known.get(key)
    if (known === undefined) {
      known = { account, start, requests: 0, askedAt: 0, isRead: false }
      this.#known.set(key, known)
    }
    known.askedAt = performance.now()
    this.#active.set(key, known)
    if (!known.isRead) void this.refresh().catch(() => undefined)
    return known.requests
  }

  /** Looks at all windows that were asked about of late. */
  refresh(): Promise<void> {
    this.#refreshing ??= this.#refresh().finally(() => {
      this.#refreshing = null
    })
    return this.#refreshing
  }

  async #refresh(): Promise<void> {
    // What is asked about in the turn of a first question is read with it.
    await Promise.resolve()
    const before = performance.now() - ASKED_FOR
    for (const [key, { askedAt }] of this.#active) if (askedAt < before) this.#active.delete(key)
    const all = [...this.#active.values()]
    for (let i = 0; i < all.length; i += AT_ONCE) {
      const some = all.slice(i, i + AT_ONCE)
      const read = await this.#read(some)
      const changed = some.filter((known, at) => {
        const isNew = known.requests !== read[at]
        known.requests = read[at] ?? 0
        known.isRead = true
        return isNew
      })
      if (changed.length > 0) for (const listener of this.#listeners) listener(changed)
    }
  }

  async #read(windows: readonly { account: string; start: number }[]): Promise<readonly number[]> {
    const rows = await this.#postgres.query<{ at: number; requests: number }>(
      `SELECT w.at::int AS at, coalesce(sum(q.requests), 0)::bigint AS requests
       FROM unnest($1::text[], $2::bigint[]) WITH ORDINALITY AS w (account, start, at)
       LEFT JOIN quota_window AS q ON q.account = w.account AND q.start = w.start
         AND q.node IS DISTINCT FROM (SELECT no FROM node WHERE id = $3)
       GROUP BY w.at ORDER BY w.at`,
      [windows.map(({ account }) => account), windows.map(({ start }) => start), this.#nodeId()],
    )
    return rows.map(({ requests }) => requests)
  }
}
