/** What a block number counts: on EVM there is one head; on Solana slots, and block heights, by how settled they are. */

/** Solana's commitments, the least settled first. */
export const COMMITMENTS = ['processed', 'confirmed', 'finalized'] as const
export type Commitment = (typeof COMMITMENTS)[number]

/** EVM has `head` and the blocks of its tags `safe` and `finalized`; Solana has a slot and a height of each commitment. */
export type HeightKind = 'head' | 'safe' | Commitment | `${Commitment} height`

/** The scales whose numbers a number on this scale cannot be below: what is finalized is confirmed and processed too. */
export function settledFrom(scale: HeightKind): readonly HeightKind[] {
  return FROM[scale]
}

const FROM: Readonly<Record<HeightKind, readonly HeightKind[]>> = {
  head: ['head'],
  safe: ['safe', 'finalized'],
  processed: ['processed', 'confirmed', 'finalized'],
  confirmed: ['confirmed', 'finalized'],
  finalized: ['finalized'],
  'processed height': ['processed height', 'confirmed height', 'finalized height'],
  'confirmed height': ['confirmed height', 'finalized height'],
  'finalized height': ['finalized height'],
}
