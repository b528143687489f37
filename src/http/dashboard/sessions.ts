/** Who is signed in to the dashboard. Sessions live in the memory of the process: a restart signs everybody out. */
import { randomBytes } from 'node:crypto'
import { BoundedCache } from '../../limits/bounded-cache.ts'
import type { SignIn } from '../../ports/keys.ts'

/** Milliseconds without a request after which a session ends, and after which it ends in any case. */
const IDLE = 60 * 60_000
const LIFE = 12 * 60 * 60_000
/** Sessions of one account, and of all. */
const PER_ACCOUNT = 20
const MOST = 10_000

interface Session {
  readonly grant: SignIn
  readonly openedAt: number
  usedAt: number
}

/** Opens, finds and ends sessions. Times are milliseconds. */
export class Sessions {
  readonly #sessions = new BoundedCache<Session>(MOST)

  /** A new session under an id that nobody can guess; the account's oldest one makes room for it. */
  open(grant: SignIn, now: number): string {
    const own = [...this.#sessions.entries()].filter(([, other]) => other.grant.accountId === grant.accountId)
    own.sort(([, a], [, b]) => b.usedAt - a.usedAt)
    for (const [id] of own.slice(PER_ACCOUNT - 1)) this.#sessions.delete(id)
    const id = randomBytes(32).toString('base64url')
    this.#sessions.set(id, { grant, openedAt: now, usedAt: now })
    return id
  }

  /** What the session was opened with; null when it has ended. */
  find(id: string, now: number): SignIn | null {
    const session = this.#sessions.get(id)
    if (session === undefined) return null
    if (now - session.usedAt >= IDLE || now - session.openedAt >= LIFE) {
      this.end(id)
      return null
    }
    session.usedAt = now
    return session.grant
  }

  /** Ends a session wherever its cookie has got to. */
  end(id: string): void {
    this.#sessions.delete(id)
  }
}
