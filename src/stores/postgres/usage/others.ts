/** What accounts have used of their quota windows on the other gateways. */
import { BoundedCache } from '../../../limits/bounded-cache.ts'
import type { Postgres } from '../postgres.ts'

/** Windows that are remembered, and milliseconds for which one is that nobody asks about. */
const REMEMBERED = 100_000
const ASKED_FOR = 10 * 60_000
/** Windows that are read in one statement. */
const AT_ONCE = 1_000
/** Milliseconds between two looks at the day of an endpoint, which is the sum of many rows, and its seconds. */
const DAYS_EVERY = 10_000
const DAY = 86_400

/** The window of an account that begins at `start`, in Unix seconds; with `endpoint`, the day of this one. */
interface Asked {
  readonly account: string
  readonly start: number
  readonly endpoint: string | undefined
}

/** A window, and what is known of it. */
interface Known extends Asked {
  requests: number
  askedAt: number
  /** -Infinity before it was read. */
  readAt: number
}

/** Reads it, and keeps it up to date for those who may not wait. */
export class OthersUsage {
  readonly #postgres: Postgres
  readonly #nodeId: () => string
  readonly #known = new BoundedCache<Known>(REMEMBERED)
  readonly #active = new Map<string, Known>()
  readonly #listeners: ((changed: readonly { account: string; start: number }[]) => void)[] = []
  #refreshing: Promise<void> | null = null
  /** Days that are about to be read. */
  readonly #toRead = new Set<Known>()
  #reading: Promise<void> | null = null

  /** `nodeId`: whose own rows do not count. */
  constructor(postgres: Postgres, nodeId: () => string) {
    this.#postgres = postgres
    this.#nodeId = nodeId
  }

  /** `listener` hears of windows of which others have used more than was known. */
  whenChanged(listener: (changed: readonly { account: string; start: number }[]) => void): void {
    this.#listeners.push(listener)
  }

  /** What the others had used by the last look: 0 before the first, which comes soon. */
  known(account: string, start: number): number {
    return this.#look({ account, start, endpoint: undefined }).requests
  }

  /** What all had used of an endpoint's day by the last look, which may be some seconds ago: 0 before the first. */
  knownOf(endpoint: string, account: string, start: number): number {
    return this.#look({ account, start, endpoint }).requests
  }

  /** The same as it is now. Days that are asked for in one turn are read together. */
  async readOf(endpoint: string, account: string, start: number): Promise<number> {
    const day = this.#look({ account, start, endpoint })
    this.#toRead.add(day)
    this.#reading ??= Promise.resolve().then(async () => {
      this.#reading = null
      const days = [...this.#toRead]
      this.#toRead.clear()
      await this.#readDays(days)
    })
    await this.#reading
    return day.requests
  }

  #look(asked: Asked): Known {
    const key = `${asked.endpoint ?? asked.account} ${asked.start}`
    let known = this.#known.get(key)
    if (known === undefined) {
      known = { ...asked, requests: 0, askedAt: 0, readAt: -Infinity }
      this.#known.set(key, known)
    }
    known.askedAt = performance.now()
    this.#active.set(key, known)
    if (known.readAt === -Infinity) void this.refresh().catch(() => undefined)
    return known
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
    const due = performance.now() - DAYS_EVERY
    await this.#readDays(all.filter(({ endpoint, readAt }) => endpoint !== undefined && readAt <= due))
    for (const some of chunks(all.filter(({ endpoint }) => endpoint === undefined))) {
      const read = await this.#read(some)
      const changed = some.filter((known, at) => {
        const isNew = known.requests !== read[at]
        Object.assign(known, { requests: read[at] ?? 0, readAt: performance.now() })
        return isNew
      })
      if (changed.length > 0) for (const listener of this.#listeners) listener(changed)
    }
  }

  async #readDays(days: readonly Known[]): Promise<void> {
    for (const some of chunks(days)) {
      const read = await this.#usedOfDays(some)
      for (const [at, known] of some.entries())
        Object.assign(known, { requests: read[at] ?? 0, readAt: performance.now() })
    }
  }

  /** Of all machines: hours that are final have no machine any more. */
  async #usedOfDays(days: readonly Asked[]): Promise<readonly number[]> {
    const rows = await this.#postgres.query<{ requests: number }>(
      `SELECT coalesce(sum(u.requests), 0)::bigint AS requests
       FROM unnest($1::text[], $2::text[], $3::bigint[]) WITH ORDINALITY AS w (account, endpoint, start, at)
       LEFT JOIN usage AS u ON u.account = w.account AND u.endpoint = w.endpoint
         AND u.hour >= w.start AND u.hour < w.start + ${DAY}
       GROUP BY w.at ORDER BY w.at`,
      [days.map(one => one.account), days.map(one => one.endpoint), days.map(one => one.start)],
    )
    return rows.map(({ requests }) => requests)
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

function chunks<T>(all: readonly T[]): T[][] {
  return Array.from({ length: Math.ceil(all.length / AT_ONCE) }, (_, i) =>
    all.slice(i * AT_ONCE, (i + 1) * AT_ONCE),
  )
}
