/** Dashboard sessions: who is signed in. Every process of a gateway finds them. Times are milliseconds since the Unix epoch. */
import type { MaybePromise } from './maybe-promise.ts'
import type { SignIn } from './keys.ts'

/** Time without a use after which a session ends, and after which it ends in any case. */
export const SESSION_IDLE = 60 * 60_000
export const SESSION_LIFE = 12 * 60 * 60_000

/** A use may stay unrecorded when the recorded one is not older than this: a session ends by so much too early at most. */
export const USE_RECORDED_EVERY = 60_000

/** Sessions of one account, whose least recently used one makes room, and of all: there those of accounts with many do. */
export const SESSIONS_PER_ACCOUNT = 20
export const MOST_SESSIONS = 10_000

/** Keeps sessions under ids that nobody can guess. Several processes may use them at once. */
export interface Sessions {
  /** The id of a new session, which has been recorded when the promise resolves. */
  open(signIn: SignIn, now: number): Promise<string>
  /** What the session was opened with, which counts as a use; null when it has ended. Makes nobody wait for a write. */
  find(id: string, now: number): MaybePromise<SignIn | null>
  /** Ends a session wherever its cookie has got to; it is over when the promise resolves. */
  end(id: string): Promise<void>
}
