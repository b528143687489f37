import { rawJson } from './raw.ts'
import type { Raw } from './raw.ts'
import { refusalTable } from './refusal-table.ts'
import type { Reason } from './refusal-table.ts'

/** A call that the gateway will not serve: a value, never an exception. A class, so that telling one takes one look. */
export class Refusal {
  readonly reason: Reason
  readonly message: string
  /** Further members of `error.data`, each bounded and free of secrets. */
  readonly data: Readonly<Record<string, unknown>>

  constructor(reason: Reason, message: string, data: Readonly<Record<string, unknown>>) {
    this.reason = reason
    this.message = message
    this.data = data
  }
}

const NO_DATA = {}

/**
 * Which column of codes applies: `http` is the JSON-RPC door of a network of the family http, `path` its verbatim paths, where refusals have the
 * shape of the API's own errors.
 */
export type CodeColumn = 'evm' | 'solana' | 'http' | 'path'

/** What calls are told that the end of the gateway cuts short. */
export const SHUTTING_DOWN = 'The gateway is shutting down'

/** A refusal by its row of the table; `detail` says more than the row's sentence where it can. */
export function refuse(
  reason: Reason,
  detail?: string,
  data: Readonly<Record<string, unknown>> = NO_DATA,
): Refusal {
  return new Refusal(reason, detail ?? refusalTable[reason].message, data)
}

/** HTTP status of a reply that holds nothing but this refusal. */
export function statusOf(refusal: Refusal, column: CodeColumn = 'evm'): number {
  const row = refusalTable[refusal.reason]
  return column === 'http' || column === 'path' ? (row.http ?? row.status) : row.status
}

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
