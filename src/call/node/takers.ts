/** Which routes know of a transaction what others may not have heard of yet. */
import { familyOf } from '../../families/families.ts'
import { hashDigits } from '../../families/hash.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Sent } from '../../routes/sent.ts'
import type { Decided } from '../decide.ts'
import type { Request } from './request.ts'
import { hashOfResult } from './send-results.ts'

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

/**
 * Remembers that a route has taken a transaction, where its answer says so. A node may say any hash: whether it is the hash of this very
 * transaction is asked where another one has said the same, unless that is `known`.
 */
export function noteTaken(
  {
    network,
    row,
    elements,
    caller,
    reader,
  }: Pick<Request, 'network' | 'row' | 'elements' | 'caller' | 'reader'>,
  route: string,
  answer: Word,
  sent: Pick<Sent, 'add'>,
  known?: boolean,
): void {
  if (!row.rule.sends) return
  const family = familyOf(network)
  const hash =
    answer.kind === 'result'
      ? hashOfResult(answer.result)
      : hashDigits(family.takenBy(elements, answer.error))
  if (hash === null) return
  const isProven = (): boolean => known ?? hashDigits(family.transactionHash(elements)) === hash
  sent.add({ network: network.slug, hash, reader, holder: caller, route, isProven: known === true }, isProven)
}

/** A node's own word on a transaction. */
type Word =
  { readonly kind: 'result'; readonly result: Raw } | { readonly kind: 'error'; readonly error: Raw }
