/** Subscriptions as Solana nodes have them (Agave, "RPC Websocket Methods"): a method for each kind. */
import { configOf, elementsOf, memberOf } from '../../jsonrpc/elements.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { objectOf, soleMembers } from '../canonical.ts'
import type { SubscriptionWords } from '../family.ts'
import { noFiller } from '../gap.ts'
import { shownSlots } from './shown-slots.ts'
import { signatureFiller } from './signature-filler.ts'
import { commitmentIn } from './route-need.ts'

/** Where the config object of subscribe methods stands, in those that have one. */
const CONFIG_AT = 1
const SLOT = /"slot"\s*:\s*(\d+)/

let lastId = 0

export const solanaSubscriptions: SubscriptionWords = {
  notification: method => method.replace(/Subscribe$/, 'Notification'),
  newId: () => {
    lastId += 1
    return String(lastId)
  },
  unknownId: rawJson({ code: -32602, message: 'Invalid subscription id.' }),
  encode: (notification, result) => [
    `{"jsonrpc":"2.0","method":"${notification}","params":{"result":${result},"subscription":`,
    '}}',
  ],
  normalize: (method, elements) => {
    if (FINALIZED_BY_DEFAULT.has(method)) normalizeCommitment(elements)
  },
  filler: (method, params) => (method === 'signatureSubscribe' ? signatureFiller(params) : noFiller),
  isPerBlock: method => method === 'slotSubscribe' || method === 'rootSubscribe',
  heightReader: method =>
    method === 'slotSubscribe'
      ? result => (result.charCodeAt(0) === 123 ? readQuantity(memberOf(result, 'slot')) : null)
      : null,
  scale: (method, params) => {
    if (method === 'slotSubscribe') return 'processed'
    if (method === 'rootSubscribe') return 'finalized'
    const elements = params.charCodeAt(0) === 91 ? elementsOf(params, CONFIG_AT + 1) : []
    return commitmentIn(CONFIG_AT, 'commitment', configOf(CONFIG_AT, elements))
  },
  shown: (method, scale, result) => {
    if (method === 'slotSubscribe') return numberIn(SLOT.exec(result)?.[1])
    if (method === 'rootSubscribe') return numberIn(result)
    const commitment = scale === 'processed' || scale === 'confirmed' ? scale : 'finalized'
    return shownSlots(method, commitment, result)[0]?.[1] ?? null
  },
}

function numberIn(text: string | undefined): number | null {
  const number = Number(text)
  return Number.isSafeInteger(number) ? number : null
}

/** Solana's subscriptions whose config may leave out the commitment, which is then `finalized` (Agave, rpc_pubsub.rs). */
const FINALIZED_BY_DEFAULT = new Set([
  'logsSubscribe',
  'accountSubscribe',
  'programSubscribe',
  'signatureSubscribe',
])

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
