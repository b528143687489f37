import { randomBase62 } from './base62.ts'

/** A new account id: `acc_` and 95 random bits. */
export function newAccountId(): string {
  return `acc_${randomBase62(16)}`
}

/** A new endpoint id: `ep_` and 95 random bits. */
export function newEndpointId(): string {
  return `ep_${randomBase62(16)}`
}

/** A new id of a token of the admin API: `tok_` and 95 random bits. */
export function newTokenId(): string {
  return `tok_${randomBase62(16)}`
}
