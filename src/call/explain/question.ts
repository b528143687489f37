/** What `explain` is asked. */
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Network } from '../../snapshot/types.ts'

/** What is asked. */
export interface Question {
  readonly network: Network
  readonly method: string
  readonly plan: string
  /** A valid JSON array or object; null asks about the method as such. */
  readonly params: Raw | null
  readonly head: number | null
  /** Whether the gateway's own management answers the method: to everybody, to those with a key, or not at all. */
  readonly management: 'everybody' | 'keys' | null
}
