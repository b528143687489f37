import type { Commitment, HeightKind } from './height-kind.ts'

/** What a call asks of a route besides being able. */
export interface RouteNeed {
  /** Null on EVM. */
  readonly commitment: Commitment | null
  readonly scale: HeightKind
  /** A slot that the route should have come to: the call's own, or that of its blockhash. */
  readonly slot: number | null
  /** Routes that should serve it if they can. */
  readonly prefer: readonly string[]
}
