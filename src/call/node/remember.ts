/** Keeps what an answer has shown: how far its route has come, what its reader has seen, who knows a blockhash. */
import { familyOf } from '../../families/families.ts'
import type { Scale } from '../../families/solana/scale.ts'
import type { SlotRead } from '../../families/solana/slot-read.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Live } from '../context.ts'
import type { Decided } from '../decide.ts'

/** An answer, and whose it is. */
export interface Shown {
  readonly network: Network
  readonly call: Decided
  readonly wants: SlotRead | null
  /** Whose floors it raises. */
  readonly reader: string
  /** The route that answered. */
  readonly route: string | null
  readonly result: Raw
}

/** Takes note of an answer. */
export function remember(
  shown: Shown,
  live: Pick<Live, 'floors' | 'upstreams' | 'blockhashes' | 'clock'>,
): void {
  const { network, call, wants, route, result } = shown
  const { heights, blockhash } = familyOf(network).shown(call, wants, result)
  for (const [scale, number] of heights) note(shown, scale, number, live)
  if (blockhash === null || route === null || wants === null) return
  const slot = heights[0]?.[1] ?? null
  live.blockhashes.add(network.slug, blockhash, { route, slot, commitment: wants.commitment })
}

/** Takes note of a height that a reader was shown, and of the route that it came over. */
export function note(
  { network, reader, route }: Pick<Shown, 'network' | 'reader' | 'route'>,
  scale: Scale,
  number: number,
  { floors, upstreams, clock }: Pick<Live, 'floors' | 'upstreams' | 'clock'>,
): void {
  if (route === null || upstreams.learnHead(network, route, number, clock.monotonic(), scale))
    floors.show(reader, network.slug, number, scale)
}
