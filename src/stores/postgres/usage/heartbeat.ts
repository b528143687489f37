/** Says every few seconds that this gateway is there, and compares the clocks. */
import type { Postgres } from '../postgres.ts'
import type { LedgerChanges } from '../../sqlite/usage/reports/changes.ts'
import { seen, settledHour } from './nodes.ts'
import type { NodeState } from './nodes.ts'
import type { Spool } from './spool.ts'

const EVERY = 5_000

/** What it works with. */
export interface HeartbeatParts {
  readonly postgres: Pick<Postgres, 'query'>
  readonly changes: Pick<LedgerChanges, 'node' | 'isWaiting'>
  readonly spool: Pick<Spool, 'isClaimed' | 'isFenced' | 'isFailing' | 'unclaimed'>
  readonly state: () => NodeState
  /** Hears once of each other gateway that is there under this one's name. */
  readonly named: (id: string) => void
}

/** Keeps a node's row up to date. */
export class Heartbeat {
  readonly #parts: HeartbeatParts
  readonly #timer: NodeJS.Timeout
  #skew: number | null = null
  #isBeating = false
  readonly #namesakes = new Set<string>()

  constructor(parts: HeartbeatParts) {
    this.#parts = parts
    this.#timer = setInterval(() => {
      if (!this.#isBeating) void this.beat()
    }, EVERY).unref()
  }

  /** Seconds that this machine's clock is ahead of PostgreSQL's; null before they were compared. */
  get skewSeconds(): number | null {
    return this.#skew
  }

  close(): void {
    clearInterval(this.#timer)
  }

  /** While PostgreSQL is away nobody sees it, which is what its row says then. */
  async beat(): Promise<void> {
    const { postgres, changes, spool, state, named } = this.#parts
    if (!spool.isClaimed || spool.isFenced) return
    this.#isBeating = true
    try {
      const before = Date.now()
      const began = performance.now()
      // What is not reported yet may be of any hour.
      const upto = changes.isWaiting || spool.isFailing ? 0 : settledHour(before)
      const { isThere, now, namesake } = await seen(postgres, changes.node, state(), upto)
      const took = performance.now() - began
      // The answer was made somewhere between question and answer.
      const ahead = before + took / 2 - now
      this.#skew = Math.abs(ahead) <= took / 2 ? 0 : ahead / 1000
      if (!isThere) spool.unclaimed()
      if (namesake !== null && !this.#namesakes.has(namesake)) named(namesake)
      if (namesake !== null) this.#namesakes.add(namesake)
    } catch {
      // Reports tell of a PostgreSQL that is away.
    } finally {
      this.#isBeating = false
    }
  }
}
