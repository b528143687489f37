/** What a subscription's messages show of the chain: heads do not go back behind them either. */
import { elementsOf } from '../jsonrpc/elements.ts'
import { nameOf } from '../jsonrpc/names.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Network } from '../snapshot/types.ts'
import type { Scale } from '../families/solana/scale.ts'
import type { Live } from './context.ts'
import { shownSlots } from '../families/solana/shown-slots.ts'
import { configOf } from '../families/solana/config.ts'
import { commitmentIn } from '../families/solana/slot-read.ts'

/** Where the config object of Solana's subscribe methods stands, in those that have one. */
const CONFIG_AT = 1
const NUMBER = /"number"\s*:\s*"(0x[0-9a-f]+)"/i
const SLOT = /"slot"\s*:\s*(\d+)/

/** The scale on which a subscription shows numbers; null when it shows none. */
export function scaleOf(method: string, params: Raw): Scale | null {
  if (method === 'slotSubscribe') return 'processed'
  if (method === 'rootSubscribe') return 'finalized'
  const elements = params.charCodeAt(0) === 91 ? elementsOf(params, CONFIG_AT + 1) : []
  if (method !== 'eth_subscribe') return commitmentIn(CONFIG_AT, 'commitment', configOf(CONFIG_AT, elements))
  const [kind] = elements
  return kind?.charCodeAt(0) === 34 && nameOf(kind) === 'newHeads' ? 'head' : null
}

/** The number that one message shows; null when it shows none. */
export function shownIn(method: string, scale: Scale, result: Raw): number | null {
  if (method === 'eth_subscribe') return numberIn(NUMBER.exec(result)?.[1])
  if (method === 'slotSubscribe') return numberIn(SLOT.exec(result)?.[1])
  if (method === 'rootSubscribe') return numberIn(result)
  return (
    shownSlots(
      method,
      scale === 'processed' || scale === 'confirmed' ? scale : 'finalized',
      result,
    )[0]?.[1] ?? null
  )
}

/** Takes note of a message for its reader, and of the route that it came over. */
export function rememberMessage(
  {
    network,
    reader,
    route,
  }: { readonly network: Network; readonly reader: string; readonly route: string | null },
  scale: Scale,
  number: number,
  { floors, upstreams, monotonic }: Pick<Live, 'floors' | 'upstreams' | 'monotonic'>,
): void {
  if (route === null || upstreams.learnHead(network, route, number, monotonic(), scale))
    floors.show(reader, network.slug, number, scale)
}

function numberIn(text: string | undefined): number | null {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : null
}
