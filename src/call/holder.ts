import type { PublicCaller } from '../limits/fair-share.ts'
import type { Caller } from './caller.ts'

/** Who holds connections and subscriptions: the account, or on the public route the address. */
export function holderOf({ payer, address }: Pick<Caller, 'payer' | 'address'>): string {
  return payer === null ? (`public ${address}` satisfies PublicCaller) : payer.account.id
}

/** Who shares turns of the event loop: an account, or all callers of the public route as one, as anybody can use many addresses. */
export function partyOf({ payer }: Pick<Caller, 'payer'>): string {
  return payer === null ? ('public ' satisfies PublicCaller) : payer.account.id
}
