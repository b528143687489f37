/** Which filler a subscription has. */
import { elementsOf } from '../../jsonrpc/elements.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { noFiller } from './gap.ts'
import type { GapFiller } from './gap.ts'
import { headsFiller } from './heads-filler.ts'
import { logsFiller } from './logs-filler.ts'
import { signatureFiller } from './signature-filler.ts'

/** The filler of a subscribe call. */
export function fillerOf(method: string, params: Raw): GapFiller {
  if (method === 'signatureSubscribe') return signatureFiller(params)
  if (method !== 'eth_subscribe' || params.charCodeAt(0) !== 91) return noFiller
  const kind = elementsOf(params)[0]
  if (kind === '"newHeads"') return headsFiller()
  return kind === '"logs"' ? logsFiller(params) : noFiller
}

/** The same params without white space between their parts: equal ones share an upstream subscription. */
export function compact(params: Raw): Raw {
  return params.replace(/"(?:[^"\\]|\\.)*"|\s+/g, part => (part.startsWith('"') ? part : ''))
}
