/** Which slot a Solana call is about. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import type { ReadCall } from '../family.ts'
import { LATEST, SHOWN, UNSETTLED } from '../reading.ts'
import type { Reading } from '../reading.ts'
import type { RouteNeed } from '../route-need.ts'

/**
 * What the call reads. `finalized` is the commitment of a block that stays; of an account it is the newest finalized slot, which moves like any
 * head.
 */
export function solanaReading({ row, method, elements, span }: ReadCall, wants: RouteNeed | null): Reading {
  const { block, commitment } = row.rule
  if (block === null) return LATEST
  if (span === null) return UNSETTLED
  if (commitment !== null && wants?.commitment !== 'finalized') return UNSETTLED
  const { from } = span
  if (from.kind === 'hash') return SHOWN
  if (from.kind === 'tag') return from.tag === 'latest' ? LATEST : UNSETTLED
  const to = method === 'getBlocks' ? readQuantity(elements[1]) : from.number
  return to === null ? UNSETTLED : { kind: 'numbers', from: from.number, to: Math.max(from.number, to) }
}
