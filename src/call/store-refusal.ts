/** What callers are told of a change that could not be written. */
import { StoreUnavailable } from '../ports/store-unavailable.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'

/** The refusal where the store of all gateways cannot be reached; null for any other failure. */
export function storeRefusal(error: unknown): Refusal | null {
  return error instanceof StoreUnavailable ? refuse('store_unavailable', error.publicMessage) : null
}
