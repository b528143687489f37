/** Which subscribe calls share an upstream subscription: those that are equal in meaning, as far as that is sure. */
import { elementsOf } from '../../jsonrpc/elements.ts'
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Family } from '../../snapshot/types.ts'
import { canonical, soleMembers } from './canonical.ts'
import { compact } from './kind.ts'

/** Solana's subscriptions whose config may leave out the commitment, which is then `finalized` (Agave, rpc_pubsub.rs). */
const FINALIZED_BY_DEFAULT = new Set([
  'logsSubscribe',
  'accountSubscribe',
  'programSubscribe',
  'signatureSubscribe',
])

const ADDRESS = /^"0x[0-9a-f]{40}"$/i
const TOPIC = /^"0x[0-9a-f]{64}"$/i

/**
 * Equal keys mean equal subscriptions; the reverse need not hold. Params of which two parsers could read different things
 * are equal only to themselves.
 */
export function sharingKey(family: Family, method: string, params: Raw): string {
  const exact = `${method} ${compact(params)}`
  const array = canonical(params)
  if (array === null) return exact
  if (array.charCodeAt(0) !== 91) return `${method} ${array}`
  const elements = elementsOf(array)
  if (family === 'evm' && method === 'eth_subscribe') normalizeLogs(elements)
  if (family === 'solana' && FINALIZED_BY_DEFAULT.has(method)) normalizeCommitment(elements)
  return `${method} [${elements.join(',')}]`
}

/** `["all"]`, `["all",{}]` and `["all",{"commitment":"finalized"}]` are one. */
function normalizeCommitment(elements: Raw[]): void {
  const [, config] = elements
  if (elements.length > 2 || (config !== undefined && config.charCodeAt(0) !== 123)) return
  const members = config === undefined ? new Map<string, Raw>() : soleMembers(config)
  if (members === null) return
  if (members.get('commitment') === '"finalized"') members.delete('commitment')
  if (members.size === 0) elements.length = 1
  else elements[1] = objectOf(members)
}

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

function objectOf(members: ReadonlyMap<string, Raw>): Raw {
  const parts = [...members].map(([name, value]) => `${rawJson(name)}:${value}`)
  return `{${parts.sort().join(',')}}`
}
