/** What the items of a message ask for. */
import { familyOf } from '../families/families.ts'
import { isBad } from '../jsonrpc/call.ts'
import type { BadCall, Call } from '../jsonrpc/call.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { Caller } from './caller.ts'
import type { Context } from './context.ts'

/** The call in an item, or why there is none that can be made here. */
export function askedBy(item: Call | BadCall, { network }: Caller, { live }: Context): Call | Refusal {
  if (isBad(item)) return item.refusal
  // The rules of a network of the family http name verbs and paths, which are no JSON-RPC methods.
  return familyOf(network).wire === 'http' && !live.management.has(item.method) ? ONLY_SERVICE : item
}

const ONLY_SERVICE = refuse(
  'method_not_found',
  'Only service_* methods are called here: send others to their path',
)
