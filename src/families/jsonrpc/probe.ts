/** Probes nodes of any chain with the questions that networks.yaml gives: the newest height, and what names the chain. */
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { decodeJson, rawJson } from '../../jsonrpc/raw.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { valueAt } from '../../jsonrpc/value-at.ts'
import type { Network } from '../../snapshot/types.ts'
import type { ProbeWords, Probing, Question } from '../probing.ts'

type IdentityQuestion = NonNullable<Network['identity']>

function question({ head, identity }: Network): Question | null {
  const asked = head ?? identity
  return asked === null ? null : [asked.method, rawJson(asked.params)]
}

/** Whether the route answers, and how far it has come; a route without a question is judged by its traffic alone. */
async function askHead(probing: Probing): Promise<void> {
  const { head } = probing.network
  const asked = question(probing.network)
  if (asked === null) return
  const told = await probing.askAlive(...asked)
  if (head === null || told.kind !== 'result') return
  const height = readQuantity(valueAt(told.result, head.at))
  if (height !== null) probing.claim(height)
}

export const jsonrpcProbe: ProbeWords = {
  question,
  probe: askHead,
  confirm: askHead,

  identify: async probing => {
    const { identity } = probing.network
    if (identity === null) return null
    const told = await probing.ask(identity.method, rawJson(identity.params))
    if (told.kind === 'failed') return undefined
    // A node that answers with an error cannot say; it is taken at the operator's word.
    return told.kind === 'result' ? identityFault(identity, told.result) : null
  },
}

/** What is wrong with the answer to the question for the chain, as a sentence; null when it is the right one. */
export function identityFault({ method, at, equals }: IdentityQuestion, result: Raw): string | null {
  const value = valueAt(result, at)
  if (value !== null && isSame(value, equals)) return null
  return `it serves another chain: ${method} does not answer ${equals}`
}

/** Whether a raw value, a string or not, says what is expected; the digits of a hex number in any case. */
function isSame(value: Raw, expected: string): boolean {
  const told = value.charCodeAt(0) === 34 ? (decodeJson(value) as string) : value
  if (told === expected) return true
  return /^0x[0-9a-f]+$/i.test(expected) && told.toLowerCase() === expected.toLowerCase()
}
