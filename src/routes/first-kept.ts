/** From which block (on Solana: slot) on a route has blocks, receipts and logs. */
import type { Route } from '../snapshot/types.ts'

/** The oldest one; null where it keeps all, or that is not known. `probed` is what its node told, `head` its newest block. */
export function firstKept(
  { history, capabilities }: Pick<Route, 'history' | 'capabilities'>,
  probed: number | null,
  head: number | null,
): number | null {
  // Archives of Solana keep older slots in another store, of which their nodes do not tell.
  const told = capabilities.includes('archive') ? null : probed
  if (history === null) return told
  if (history.from !== null) return Math.max(history.from, told ?? 0)
  return head === null ? told : Math.max(head - history.last + 1, told ?? 0)
}
