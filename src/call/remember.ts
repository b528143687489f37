/** Keeps what an answer has shown: how far its route has come, what its reader has seen, who knows a blockhash. */
import type { Raw } from '../jsonrpc/raw.ts'
import type { Network } from '../snapshot/types.ts'
import type { Scale } from '../families/solana/scale.ts'
import type { BlockSpan } from '../families/evm/block.ts'
import type { Live } from './context.ts'
import { shownHead } from './need.ts'
import { shownBlockhash, shownSlots } from '../families/solana/shown-slots.ts'
import type { SlotRead } from '../families/solana/slot-read.ts'

/** An answer, and whose it is. */
export interface Shown {
  readonly network: Network
  readonly method: string
  readonly span: BlockSpan
  readonly slots: SlotRead | null
  /** Whose floors it raises. */
  readonly reader: string
  /** The route that answered. */
  readonly route: string | null
  readonly result: Raw
}

/** Methods whose answer a transaction may be signed by; the older ones are off unless an operator needs them. */
const GIVE_BLOCKHASH = new Set(['getLatestBlockhash', 'getRecentBlockhash', 'getFees'])

/** Takes note of an answer. */
export function remember(
  shown: Shown,
  live: Pick<Live, 'floors' | 'upstreams' | 'blockhashes' | 'monotonic'>,
): void {
  const { method, span, slots, result } = shown
  if (slots === null) {
    const head = shownHead(method, span, result)
    if (head !== null) note(shown, 'head', head, live)
    return
  }
  const numbers = shownSlots(method, slots.commitment, result)
  for (const [scale, number] of numbers) note(shown, scale, number, live)
  if (!GIVE_BLOCKHASH.has(method) || shown.route === null) return
  const blockhash = shownBlockhash(result)
  if (blockhash === null) return
  const { network, route } = shown
  const slot = numbers[0]?.[1] ?? null
  live.blockhashes.add(network.slug, blockhash, { route, slot, commitment: slots.commitment })
}

function note(
  { network, reader, route }: Shown,
  scale: Scale,
  number: number,
  { floors, upstreams, monotonic }: Pick<Live, 'floors' | 'upstreams' | 'monotonic'>,
): void {
  if (route === null || upstreams.learnHead(network, route, number, monotonic(), scale))
    floors.show(reader, network.slug, number, scale)
}
