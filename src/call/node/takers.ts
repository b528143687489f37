/** Which routes know of a transaction what others may not have heard of yet. */
import { hashDigits } from '../../families/hash.ts'
import type { Sent } from '../../routes/sent.ts'
import type { Decided } from '../decide.ts'

/** Of the routes that may serve a call. */
interface Takers {
  /** Those that have taken the transaction which the call asks for. */
  readonly takers: readonly string[]
  /** Those that come first: the takers, or for what is pending those that took the reader's last transaction. */
  readonly prefer: readonly string[]
}

const NOBODY: Takers = { takers: [], prefer: [] }

/** Who is to be asked first about a transaction that was sent a moment ago. */
export function takersOf(
  { row, elements, span }: Pick<Decided, 'row' | 'elements' | 'span'>,
  routes: readonly string[],
  network: string,
  reader: string,
  { sent }: { readonly sent: Pick<Sent, 'any' | 'takers' | 'lastOf'> },
): Takers {
  if (span === null || !sent.any(network)) return NOBODY
  const { to } = span
  const { block } = row.rule
  if (to.kind === 'hash' && block?.kind === 'txhash') {
    const hash = hashDigits(elements[block.at])
    const takers = hash === null ? [] : sent.takers(network, hash).filter(id => routes.includes(id))
    return takers.length === 0 ? NOBODY : { takers, prefer: takers }
  }
  if (to.kind !== 'tag' || to.tag !== 'pending') return NOBODY
  return { takers: [], prefer: sent.lastOf(network, reader).filter(id => routes.includes(id)) }
}
