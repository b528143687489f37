/** Responses as bytes: a refusal in the shape of each wire, and a result. */
import { rawJson } from './raw.ts'
import type { Raw } from './raw.ts'
import { NO_DATA } from '../refusal/refusal.ts'
import type { CodeColumn, Refusal } from '../refusal/refusal.ts'
import { refusalTable } from '../refusal/table.ts'

/** The error response of a refusal, as JSON-RPC or as a verbatim path has it; `id` is the client's own bytes. */
export function encodeRefusal(refusal: Refusal, id: Raw, column: CodeColumn, requestId: string): Raw {
  const row = refusalTable[refusal.reason]
  const code = column === 'evm' ? row.evm : column === 'solana' ? row.solana : (row.http ?? row.status)
  // Reasons and request ids hold nothing that JSON escapes.
  const members = `"reason":"${refusal.reason}","requestId":"${requestId}"${membersOf(refusal.data)}`
  if (column === 'path') return `{"code":${code},"message":${sentenceOf(refusal)},${members}}`
  const data = `{${members}}`
  return `{"jsonrpc":"2.0","id":${id},"error":{"code":${code},"message":${sentenceOf(refusal)},"data":${data}}}`
}

/** The last sentence and its JSON: most of the time the next refusal says the same. */
let last = { message: '', json: '""' }

function sentenceOf({ message }: Refusal): Raw {
  if (message !== last.message) last = { message, json: rawJson(message) }
  return last.json
}

/** The members of an object as they follow others; nothing for an empty one. */
function membersOf(data: Refusal['data']): Raw {
  const json = data === NO_DATA ? '{}' : rawJson(data)
  return json === '{}' ? '' : `,${json.slice(1, -1)}`
}

/** A JSON-RPC success response around raw bytes. */
export function encodeResult(id: Raw, result: Raw): Raw {
  return `{"jsonrpc":"2.0","id":${id},"result":${result}}`
}
