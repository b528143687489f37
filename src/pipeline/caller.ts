/** Who calls: what authentication returns and every later stage takes. */
import type { KeyOwner } from '../accounts/types.ts'
import type { Session } from './session.ts'
import type { CodeColumn } from '../jsonrpc/refusal.ts'
import type { RateLimit } from '../usage/bucket.ts'
import type { Network, Plan } from '../snapshot/types.ts'

/** Who is charged: the owner of the key, and the plan of the moment. */
export interface Payer extends KeyOwner {
  readonly plan: Plan
  readonly endpointRate: RateLimit | null
}

/** A caller on a private route has a payer; on the public route it is known by address only. */
export interface Caller {
  readonly network: Network
  readonly plan: Plan
  readonly payer: Payer | null
  /** The client's address, an IPv6 one cut to its /64. */
  readonly address: string
  readonly transport: 'http' | 'ws'
  /** Where subscriptions live; null over HTTP. */
  readonly session: Session | null
}

/** Which column of refusal codes a network's clients expect. */
export function columnOf(network: Network | null): CodeColumn {
  return network?.family ?? 'evm'
}
