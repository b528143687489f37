/** Keys: what a secret that somebody presents stands for. Asked by each call, so an answer is at hand. */
import type { Account } from './accounts.ts'
import type { Endpoint } from './endpoints.ts'

/** What an API key stands for. */
export interface KeyOwner {
  readonly account: Account
  readonly endpoint: Endpoint
  /** When the key ends, in Unix seconds; null is never. */
  readonly until: number | null
  /** Whether it was rotated: it makes calls for a while, and neither manages nor signs in, as whoever has it may not be its owner. */
  readonly isOld: boolean
}

/** Finds the owners of API keys. */
export interface Keys {
  /** The endpoint and account of a key, whatever their status; null when it is nobody's, or has ended. */
  find(key: string): KeyOwner | null
  /** Counts changes of keys and their owners: who keeps what `find` gave asks again when it moves. A key that ends counts, too. */
  readonly changes: number
  /** How old what it knows is, in milliseconds, where it is a copy of what another machine has. */
  readonly age?: number
}

/** What a dashboard session was opened with. It holds no secret, and is void once any part of it has changed or the key has expired. */
export interface SignIn {
  readonly accountId: string
  /** SHA-256 of the dashboard token that the account had then, in hex. */
  readonly tokenHash: string
  /** The endpoint whose key was given; null when it was the dashboard token. */
  readonly endpointId: string | null
}

/** Finds whose dashboard a visitor may see. */
export interface SignIns {
  /** For a dashboard token or an API key; null when it is neither. */
  open(secret: string): SignIn | null
  /** Whose it is now, without an endpoint where the dashboard token was given; null once it is void. */
  owner(signIn: SignIn): { readonly account: Account; readonly endpoint: Endpoint | null } | null
}
