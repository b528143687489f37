/** Who calls: what authentication returns and every later stage takes. */
import { familyOf } from '../families/families.ts'
import type { KeyOwner } from '../ports/keys.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { CodeColumn } from '../refusal/refusal.ts'
import type { RateLimit } from '../ports/limits.ts'
import type { WholeAnswer } from './reply/answer.ts'
import type { MethodRow, Network, Plan } from '../snapshot/types.ts'

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

/** A socket's side of subscribing. */
export interface Session {
  /** Begins a subscription; the answer holds the client's own id for it. */
  subscribe(
    row: MethodRow,
    call: { readonly method: string; readonly params: Raw },
    caller: Caller,
  ): Promise<WholeAnswer>
  /** Whether the first of the params is the id of a subscription of this socket. */
  holds(params: Raw): boolean
  /** Ends a subscription of this socket; another's id is unknown. */
  unsubscribe(params: Raw, caller: Caller): WholeAnswer
}

/** Which column of refusal codes a network's clients expect. */
export function columnOf(network: Network | null): CodeColumn {
  return network === null ? 'evm' : familyOf(network).codes
}
