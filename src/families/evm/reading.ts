/** Which block an EVM call is about. */
import type { ReadCall } from '../family.ts'
import { LATEST, SHOWN, UNSETTLED } from '../reading.ts'
import type { Reading } from '../reading.ts'
import type { BlockRef } from '../block-span.ts'

const MOVING: Readonly<Record<string, Reading>> = {
  latest: LATEST,
  safe: { kind: 'moving', tag: 'safe' },
  finalized: { kind: 'moving', tag: 'finalized' },
}

/** What the call reads; one without a block of its own is about the present. */
export function evmReading({ row, span }: Pick<ReadCall, 'row' | 'span'>): Reading {
  if (span === null) return row.rule.block === null ? LATEST : UNSETTLED
  const { from, to } = span
  if (from.kind === 'hash' || to.kind === 'hash') return SHOWN
  const [first, last] = [numberOf(from), numberOf(to)]
  // A range that runs backwards is still about both of its ends.
  if (first !== null && last !== null)
    return { kind: 'numbers', from: Math.min(first, last), to: Math.max(first, last) }
  const isOneBlock = from.kind === 'tag' && to.kind === 'tag' && from.tag === to.tag
  if (to.kind !== 'tag' || (first === null && !isOneBlock)) return UNSETTLED
  return MOVING[to.tag] ?? UNSETTLED
}

function numberOf(ref: BlockRef): number | null {
  if (ref.kind === 'number') return ref.number
  return ref.kind === 'tag' && ref.tag === 'earliest' ? 0 : null
}
