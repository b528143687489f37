/** JSON as bytes: what they spell, and how refusals and results are written. */
import { NO_DATA } from '../refusal/refusal.ts'
import type { CodeColumn, Refusal } from '../refusal/refusal.ts'
import { refusalTable } from '../refusal/table.ts'
import { isAscii, isUtf8 } from 'node:buffer'

/**
 * Bytes as a latin1 string: one character a byte, never decoded. Slices and joins are cheap, the content is exact,
 * and `Buffer.from(raw, 'latin1')` or `socket.write(raw, 'latin1')` gives the same bytes back.
 */
export type Raw = string
/** The text that a run of UTF-8 bytes spells. */
export function textOf(raw: Raw): string {
  return /[\u0080-\u00ff]/.test(raw) ? Buffer.from(raw, 'latin1').toString('utf8') : raw
}
/** Bytes that are looked at by themselves. */
const GLANCE = 64 * 1024
const glanced = Buffer.alloc(GLANCE)
/** Whether the bytes are UTF-8, as JSON has to be; ASCII, which nearly all is, costs a glance. */
export function isUtf8Raw(raw: Raw): boolean {
  return isAsciiRaw(raw) || isUtf8(Buffer.from(raw, 'latin1'))
}
/** For long ones Node's own look at bytes is much the faster one, in pieces that stay in the processor's cache. */
function isAsciiRaw(raw: Raw): boolean {
  if (raw.length <= GLANCE) return !/[\x80-\xff]/.test(raw)
  for (let at = 0; at < raw.length; at += GLANCE) {
    const length = glanced.write(raw.slice(at, at + GLANCE), 'latin1')
    if (!isAscii(glanced.subarray(0, length))) return false
  }
  return true
}
/** The UTF-8 bytes of a text. */
export function rawOf(text: string): Raw {
  return /^[\0-\x7f]*$/.test(text) ? text : Buffer.from(text, 'utf8').toString('latin1')
}
/** A value of ours as JSON bytes. */
export function rawJson(value: unknown): Raw {
  return rawOf(JSON.stringify(value))
}
/** Decodes one JSON value that the scanner has already found valid. */
export function decodeJson(raw: Raw): unknown {
  return JSON.parse(textOf(raw))
}

/** The error response of a refusal, as JSON-RPC or as a verbatim path has it; `id` is the client's own bytes. */
export function encodeRefusal(
  refusal: Refusal,
  id: Raw,
  column: CodeColumn,
  requestId: string,
  isVersion1 = false,
): Raw {
  const row = refusalTable[refusal.reason]
  const code = column === 'evm' ? row.evm : column === 'solana' ? row.solana : (row.http ?? row.status)
  // Reasons and request ids hold nothing that JSON escapes.
  const members = `"reason":"${refusal.reason}","requestId":"${requestId}"${membersOf(refusal.data)}`
  if (column === 'path') return `{"code":${code},"message":${sentenceOf(refusal)},${members}}`
  const data = `{${members}}`
  return `${replyHead('error', id, isVersion1)}{"code":${code},"message":${sentenceOf(refusal)},"data":${data}}}`
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
export function encodeResult(id: Raw, result: Raw, isVersion1 = false): Raw {
  return `${replyHead('result', id, isVersion1)}${result}}`
}
/** What stands before the value of a response. Version 1.0 has both members, one of which is null, and no member `jsonrpc`. */
export function replyHead(member: 'result' | 'error', id: Raw, isVersion1: boolean): Raw {
  if (!isVersion1) return `{"jsonrpc":"2.0","id":${id},"${member}":`
  return `{"id":${id},"${member === 'result' ? 'error' : 'result'}":null,"${member}":`
}
