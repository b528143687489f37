/** The subscriptions of one client's socket, as the line sees them. */
import type { Raw } from '../jsonrpc/raw.ts'
import type { MethodRow } from '../snapshot/types.ts'
import type { WholeAnswer } from './answer.ts'
import type { Caller } from './caller.ts'

/** A socket's side of subscribing. */
export interface Session {
  /** Begins a subscription on one of the routes; the answer holds the client's own id for it. */
  subscribe(
    row: MethodRow,
    call: { readonly method: string; readonly params: Raw; readonly routes: readonly string[] },
    caller: Caller,
  ): Promise<WholeAnswer>
  /** Ends a subscription of this socket; another's id is unknown. */
  unsubscribe(params: Raw, caller: Caller): WholeAnswer
}
