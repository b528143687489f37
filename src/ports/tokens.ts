/** Tokens of the admin API (operations, section 9). All times are Unix seconds. */
import type { Author } from './audit.ts'
import type { MaybePromise } from './maybe-promise.ts'

/** What a token may be used for. */
export const SCOPES = ['accounts:read', 'accounts:write', 'usage:read', 'audit:read', 'keys:lookup'] as const

export type Scope = (typeof SCOPES)[number]

/** A token as it is listed. */
export interface Token {
  readonly id: string
  readonly name: string | null
  readonly scopes: readonly Scope[]
  readonly createdAt: number
  /** When it ends; null when it does not by itself. */
  readonly expiresAt: number | null
}

/** What is needed for a new token. */
export type TokenWish = Pick<Token, 'name' | 'scopes' | 'expiresAt'>

/** Keeps tokens by their hash. A change has been written when its promise resolves. */
export interface Tokens {
  /** The token and the only sight of its secret. */
  create(wish: TokenWish, by?: Author): Promise<{ readonly token: Token; readonly secret: string }>
  /** Those that are valid now, in the order of creation. */
  list(): MaybePromise<readonly Token[]>
  /** Whose secret it is; null when it is nobody's, has expired or was revoked. */
  find(secret: string): MaybePromise<Token | null>
  /** False when there is no such token. */
  revoke(id: string, by?: Author): Promise<boolean>
}
