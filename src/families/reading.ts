/** Which block the answer to a call is about, as far as its params say: what decides how long it holds. */

/** Blocks whose numbers the params give, the oldest and the newest. */
export interface NumberedBlocks {
  readonly kind: 'numbers'
  readonly from: number
  readonly to: number
}

/** What a call reads. */
export type Reading =
  | NumberedBlocks
  /** A block that the params name by its hash or a transaction's: only the answer shows its number. */
  | { readonly kind: 'shown' }
  /** A block that moves: the newest, or the one that nodes call by this tag. */
  | { readonly kind: 'moving'; readonly tag: 'latest' | 'safe' | 'finalized' }
  /** What can change at any moment, such as the pending block, or cannot be told. */
  | { readonly kind: 'unsettled' }

export const SHOWN: Reading = { kind: 'shown' }
export const LATEST: Reading = { kind: 'moving', tag: 'latest' }
export const UNSETTLED: Reading = { kind: 'unsettled' }
