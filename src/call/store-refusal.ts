/** The refusal of a management call whose store or coordinator cannot be reached. */
import { Away } from '../ports/store-unavailable.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'

/** The refusal where the store of all gateways, or the process that holds the ledger, cannot be reached; null for any other failure. */
export function storeRefusal(error: unknown): Refusal | null {
  return error instanceof Away ? refuse('store_unavailable', error.publicMessage) : null
}
