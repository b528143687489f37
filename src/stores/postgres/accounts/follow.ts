/** Keeps the replica of a machine up to date: at once where PostgreSQL is heard, and each second in any case. */
import type { Postgres } from '../postgres.ts'
import type { Puller } from './pull.ts'
import { CHANNEL } from './write.ts'

/** Between two pulls, and between two attempts to hear of changes, in milliseconds at most; others do not follow in step. */
const PULL_EVERY = 1_000
const LISTEN_AGAIN = 1_000

/** What it works with. */
export interface FollowParts {
  readonly postgres: Pick<Postgres, 'listen'>
  readonly puller: Pick<Puller, 'pull'>
  /** Hears that PostgreSQL cannot be reached, once, and that it can be again. */
  readonly away: (error: unknown) => void
  readonly back: () => void
  /** Milliseconds between two pulls where nothing is heard. */
  readonly every?: number
}

/** Follows what other gateways change, until it is closed. */
export class Following {
  readonly #parts: FollowParts
  #isClosed = false
  #isAway = false
  #pulling: Promise<void> = Promise.resolve()
  #isAsked = false
  #timer: NodeJS.Timeout | undefined
  #listenAgain: NodeJS.Timeout | undefined
  #stopListening: (() => Promise<void>) | null = null
  #listening: Promise<void>

  constructor(parts: FollowParts) {
    this.#parts = parts
    this.#next()
    this.#listening = this.#listen()
  }

  /** Ends it; resolves when nothing is under way. */
  async close(): Promise<void> {
    this.#isClosed = true
    clearTimeout(this.#timer)
    clearTimeout(this.#listenAgain)
    await this.#listening
    await this.#stopListening?.()
    await this.#pulling
  }

  /** What is asked for during a pull is one more behind it. */
  #pull(): void {
    if (this.#isAsked || this.#isClosed) return
    this.#isAsked = true
    this.#pulling = this.#pulling.then(async () => {
      this.#isAsked = false
      if (this.#isClosed) return
      clearTimeout(this.#timer)
      await this.#pullOnce()
      this.#next()
    })
  }

  async #pullOnce(): Promise<void> {
    const { puller, away, back } = this.#parts
    try {
      await puller.pull()
      if (this.#isAway) back()
      this.#isAway = false
    } catch (error) {
      if (!this.#isAway && !this.#isClosed) away(error)
      this.#isAway = true
    }
  }

  #next(): void {
    clearTimeout(this.#timer)
    if (this.#isClosed) return
    this.#timer = setTimeout(
      () => {
        this.#pull()
      },
      jittered(this.#parts.every ?? PULL_EVERY),
    )
  }

  async #listen(): Promise<void> {
    const lost = (): void => {
      this.#stopListening = null
      if (this.#isClosed) return
      clearTimeout(this.#listenAgain)
      this.#listenAgain = setTimeout(() => {
        this.#listening = this.#listen()
      }, jittered(LISTEN_AGAIN))
    }
    try {
      this.#stopListening = await this.#parts.postgres.listen(
        CHANNEL,
        () => {
          this.#pull()
        },
        lost,
      )
      // What was written before it was heard.
      this.#pull()
    } catch {
      lost()
    }
  }
}

function jittered(milliseconds: number): number {
  return milliseconds * (0.75 + 0.25 * Math.random())
}
