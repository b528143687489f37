/** Subscriptions as EVM nodes have them (geth, "Real-time Events"): one method, whose first parameter says what of. */
import { randomBytes } from 'node:crypto'
import { elementsOf, memberOf, nameOf } from '../../jsonrpc/elements.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { objectOf, soleMembers } from '../canonical.ts'
import type { SubscriptionWords } from '../family.ts'
import { noFiller } from '../gap.ts'
import { headsFiller } from './heads-filler.ts'
import { logsFiller } from './logs-filler.ts'

const SUBSCRIBE = 'eth_subscribe'
const NUMBER = /"number"\s*:\s*"(0x[0-9a-f]+)"/i

export const evmSubscriptions: SubscriptionWords = {
  notification: () => 'eth_subscription',
  // 128 random bits, as geth gives them.
  newId: () => `"0x${randomBytes(16).toString('hex')}"`,
  unknownId: rawJson({ code: -32000, message: 'subscription not found' }),
  encode: (notification, result) => [
    `{"jsonrpc":"2.0","method":"${notification}","params":{"subscription":`,
    `,"result":${result}}}`,
  ],
  normalize: (method, elements) => {
    if (method === SUBSCRIBE) normalizeLogs(elements)
  },
  filler: (method, params, heights) => {
    const kind = kindOf(method, params)
    if (kind === 'newHeads') return headsFiller(heights)
    return kind === 'logs' ? logsFiller(params, heights) : noFiller
  },
  isPerBlock: isNewHeads,
  heightReader: (method, params) =>
    isNewHeads(method, params)
      ? result => (result.charCodeAt(0) === 123 ? readQuantity(memberOf(result, 'number')) : null)
      : null,
  scale: (method, params) => (isNewHeads(method, params) ? 'head' : null),
  shown: (_method, _scale, result) => {
    const number = Number(NUMBER.exec(result)?.[1])
    return Number.isSafeInteger(number) ? number : null
  },
}

function isNewHeads(method: string, params: Raw): boolean {
  return kindOf(method, params) === 'newHeads'
}

/** What is subscribed to, whatever its spelling; null for what has no kind. */
function kindOf(method: string, params: Raw): string | null {
  if (method !== SUBSCRIBE || params.charCodeAt(0) !== 91) return null
  const [kind] = elementsOf(params, 1)
  return kind?.charCodeAt(0) === 34 ? nameOf(kind) : null
}

const ADDRESS = /^"0x[0-9a-f]{40}"$/i
const TOPIC = /^"0x[0-9a-f]{64}"$/i

/**
 * The filter of `logs`: the case of hex, one address or topic and a list of one, order and repetition within a list. The
 * length of `topics` counts: to geth, [A, null] are logs with at least two topics.
 */
function normalizeLogs(elements: Raw[]): void {
  const [kind, filter] = elements
  if (kind !== '"logs"' || elements.length !== 2 || filter?.charCodeAt(0) !== 123) return
  const members = soleMembers(filter)
  if (members === null) return
  const address = members.get('address')
  if (address === 'null') members.delete('address')
  else if (address !== undefined) members.set('address', anyOf(address, ADDRESS))
  const topics = members.get('topics')
  if (topics === 'null') members.delete('topics')
  else if (topics?.charCodeAt(0) === 91)
    members.set(
      'topics',
      `[${elementsOf(topics)
        .map(topic => anyOf(topic, TOPIC))
        .join(',')}]`,
    )
  elements[1] = objectOf(members)
}

/** One value or a list of them, any of which matches; as it is where it is anything else. */
function anyOf(raw: Raw, wanted: RegExp): Raw {
  const values = raw.charCodeAt(0) === 91 ? elementsOf(raw) : [raw]
  if (values.length === 0 || !values.every(value => wanted.test(value))) return raw
  const sorted = [...new Set(values.map(value => value.toLowerCase()))].sort()
  return sorted.length === 1 ? sorted.join() : `[${sorted.join(',')}]`
}
