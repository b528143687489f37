/** What a subscribe call subscribes to: how its gaps are filled, and how much may come of it. */
import { elementsOf, memberOf } from '../../jsonrpc/elements.ts'
import { nameOf } from '../../jsonrpc/names.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Heights } from '../../routes/heads.ts'
import { ANY, PER_BLOCK } from '../socket/flood.ts'
import type { Rate } from '../socket/flood.ts'
import { noFiller } from './gap.ts'
import type { GapFiller } from './gap.ts'
import { headsFiller } from './heads-filler.ts'
import { logsFiller } from './logs-filler.ts'
import { signatureFiller } from './signature-filler.ts'

/** The filler of a subscribe call on a network of which `heights` knows how far it has come. */
export function fillerOf(method: string, params: Raw, heights: Heights): GapFiller {
  if (method === 'signatureSubscribe') return signatureFiller(params)
  const kind = kindOf(method, params)
  if (kind === 'newHeads') return headsFiller(heights)
  return kind === 'logs' ? logsFiller(params, heights) : noFiller
}

/** What an `eth_subscribe` call subscribes to, whatever its spelling; null for what has no kind. */
export function kindOf(method: string, params: Raw): string | null {
  if (method !== 'eth_subscribe' || params.charCodeAt(0) !== 91) return null
  const [kind] = elementsOf(params, 1)
  return kind?.charCodeAt(0) === 34 ? nameOf(kind) : null
}

/** Reads the height that a message of a subscription to heads shows; null for subscriptions that are quiet where nothing happens. */
export function heightReader(method: string, params: Raw): ((result: Raw) => number | null) | null {
  const member = method === 'slotSubscribe' ? 'slot' : kindOf(method, params) === 'newHeads' ? 'number' : null
  if (member === null) return null
  return result => (result.charCodeAt(0) === 123 ? readQuantity(memberOf(result, member)) : null)
}

/** The rate above which the messages of a subscription are a flood. */
export function rateOf(method: string, params: Raw): Rate {
  const perBlock = method === 'slotSubscribe' || method === 'rootSubscribe'
  return perBlock || kindOf(method, params) === 'newHeads' ? PER_BLOCK : ANY
}

/** The same params without white space between their parts. */
export function compact(params: Raw): Raw {
  return params.replace(/"(?:[^"\\]|\\.)*"|\s+/g, part => (part.startsWith('"') ? part : ''))
}
