/** Reports a machine's usage to PostgreSQL: rows that have changed, with their absolute values, so that nothing is counted twice whatever is sent again. */
import { setImmediate as turn } from 'node:timers/promises'
import { claimNode, fence, reported, settledHour } from './nodes.ts'
import type { SpoolParts } from './spool-parts.ts'
import { upsert } from './tables.ts'
import { clearOld } from './whole.ts'

/** Changed rows from which on they are sent at once, and rows of one transaction at most: of a backlog that is longer, tables agree once all of it is sent. */
const MANY = 5_000
const IN_ONE = 50_000
/** Milliseconds between two looks for how many have changed. */
const LOOK = 500

/** Why there is no report any more. */
export class Fenced extends Error {
  constructor() {
    super('another process reports usage as this node')
  }
}

/** Sends reports, one at a time. */
export class Spool {
  readonly #parts: SpoolParts
  readonly #timer: NodeJS.Timeout
  #isClaimed = false
  #wasClaimed = false
  #isFenced = false
  #isFailing = false
  #running: Promise<void> | null = null
  #next: Promise<void> | null = null
  #lastAt = performance.now()
  /** Since when something was not acknowledged that had changed before. */
  #behindSince: number | null = null
  readonly #listeners: (() => void)[] = []

  constructor(parts: SpoolParts) {
    this.#parts = parts
    this.#timer = setInterval(
      () => {
        this.#look()
      },
      Math.min(LOOK, parts.every),
    ).unref()
  }

  /** Whether PostgreSQL knows this process. */
  get isClaimed(): boolean {
    return this.#isClaimed
  }

  /** PostgreSQL does not know this process any more: the next report finds out why. */
  unclaimed(): void {
    this.#isClaimed = false
  }

  get isFenced(): boolean {
    return this.#isFenced
  }

  /** Whether the last report failed: another is tried soon, and nobody needs to wait for it. */
  get isFailing(): boolean {
    return this.#isFailing || this.#isFenced
  }

  /** Rows that were not acknowledged. */
  get rows(): number {
    return this.#parts.changes.waiting
  }

  /** Seconds for which the oldest of them has waited, as far as it is known. */
  get lagSeconds(): number {
    return this.#behindSince === null ? 0 : (performance.now() - this.#behindSince) / 1000
  }

  /** `listener` hears of each report that was acknowledged. */
  whenSent(listener: () => void): void {
    this.#listeners.push(listener)
  }

  /**
   * Resolves once PostgreSQL has everything that was charged before; rejects where it cannot be told to. Those who ask while a report is under way share
   * the next.
   */
  flush(): Promise<void> {
    if (this.#running === null) return this.#start()
    this.#next ??= this.#running
      .catch(() => undefined)
      .then(() => {
        this.#next = null
        return this.#start()
      })
    return this.#next
  }

  /** Sends what is left, if that works at once. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.flush().catch(() => undefined)
  }

  #start(): Promise<void> {
    this.#lastAt = performance.now()
    const run = this.#report().finally(() => {
      this.#running = null
    })
    this.#running = run
    return run
  }

  #look(): void {
    const { changes, every } = this.#parts
    if (this.#isFenced || this.#running !== null) return
    const isDue = performance.now() - this.#lastAt >= every
    try {
      if (!isDue && !changes.hasMany(MANY)) return
    } catch {
      // A ledger that cannot be read is heard of from its owner.
      return
    }
    this.flush().catch(() => undefined)
  }

  async #report(): Promise<void> {
    const { gather, changes, events } = this.#parts
    try {
      if (this.#isFenced) throw new Fenced()
      await gather()
      const since = this.#behindSince ?? performance.now()
      if (changes.isWaiting || !this.#isClaimed) this.#behindSince = since
      if (!this.#isClaimed) await this.#claim()
      // PostgreSQL may be older than what it had acknowledged: then that is sent again, in another report.
      while (changes.isWaiting) if (await this.#send()) break
      this.#behindSince = null
      if (this.#isFailing) events.recovered()
      this.#isFailing = false
      for (const listener of this.#listeners) listener()
      while (changes.drop()) await turn()
    } catch (error) {
      if (error instanceof Fenced && !this.#isFenced) this.#stop()
      else if (!this.#isFenced) {
        this.#isFailing = true
        events.failed(error as Error)
      }
      throw error
    }
  }

  /** Begins to report: as the node that this ledger was, or as another one where that goes on elsewhere. */
  async #claim(): Promise<void> {
    const { postgres, changes, state, events, prepare } = this.#parts
    if (changes.node.fenced === 1) changes.renew()
    await prepare()
    // Twice at most: a new id is nobody else's.
    for (;;) {
      const before = changes.node
      const claimed = await claimNode(postgres, before, changes.claim(), state())
      if (claimed !== 'taken') {
        changes.claimed(claimed.epoch)
        if (claimed.rev < changes.node.acked) changes.resend(claimed.rev)
        this.#isClaimed = this.#wasClaimed = true
        return
      }
      // A copy has begun while this process reported.
      if (this.#wasClaimed) throw new Fenced()
      changes.fence(Date.now())
      changes.renew()
      events.forked(before.id, changes.node.id)
    }
  }

  /** Whether all that had changed was sent; else PostgreSQL lacks something, and the node is claimed anew. */
  async #send(): Promise<boolean> {
    const { changes, reader, postgres, sent, events } = this.#parts
    const cleared = changes.isWhole ? await clearOld(postgres, changes, Date.now()) : null
    if (cleared !== null) return this.#refused(cleared)
    const rev = changes.begin()
    const upto = settledHour(Date.now())
    const pages = reader.pages(changes.node)
    // In the turn of `begin`: the moment of the report.
    let page = pages.next()
    let rolled = 0
    try {
      do {
        let rows = 0
        const refused = await postgres.transaction(async query => {
          const fenced = await fence(query, changes.node)
          if (typeof fenced === 'string') return fenced
          rolled = fenced.rolled
          for (; page.done !== true && rows < IN_ONE; page = pages.next()) {
            rows += page.value.rows
            await query(...upsert(page.value, fenced, rev))
          }
          if (page.done === true) await reported(query, changes.node.id, { rev, upto })
          return null
        })
        if (refused !== null) return await this.#refused(refused)
        sent?.(rows)
      } while (page.done !== true)
      const late = changes.lateFor(rolled, rev)
      changes.acknowledge(rev)
      if (late !== null) events.late(late)
      return true
    } finally {
      reader.end()
    }
  }

  /** PostgreSQL took nothing: what has changed is to be sent again, if it is this process's to send. */
  async #refused(why: 'taken' | 'behind'): Promise<false> {
    if (why === 'taken') throw new Fenced()
    this.#isClaimed = false
    await this.#claim()
    return false
  }

  #stop(): void {
    const { changes, events } = this.#parts
    this.#isFenced = true
    changes.fence(Date.now())
    events.fenced()
  }
}
