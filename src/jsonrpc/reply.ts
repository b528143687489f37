/** What a node answers: the raw `result` or `error` of one response object. */
import { matchName } from './elements.ts'
import { decodeJson, isUtf8Raw } from './raw.ts'
import type { Raw } from './raw.ts'
import { skipSpace, skipValue, walkMembers } from './skip.ts'

/** A node's response, its value as it was sent. */
export type Reply =
  | { readonly kind: 'result'; readonly result: Raw }
  | { readonly kind: 'error'; readonly error: Raw; readonly code: number; readonly message: string }

/** Levels of nesting believed in a node's reply; the scanner does not recurse, so this only bounds memory. */
const MAX_REPLY_DEPTH = 10_000

const NAMES = ['id', 'result', 'error'] as const
type ErrorReply = Reply & { readonly kind: 'error' }
type Found = Partial<Record<(typeof NAMES)[number] | 'ambiguous', Raw>>

/** Reads a whole response body; null when it is not one valid JSON-RPC response to the call `id`. */
export function readReply(body: Raw, id: number): Reply | null {
  const found = isUtf8Raw(body) ? scanResponse(body) : null
  if (found === null) return null
  const { result, error } = found
  if (error !== undefined && error !== 'null') return readError(error, found.id, id)
  if (result === undefined || found.id !== String(id)) return null
  return { kind: 'result', result }
}

/** The error in a response that says itself that it answers the call `id`; null when the body is anything else. */
export function readOwnError(body: Raw, id: number): ErrorReply | null {
  const found = isUtf8Raw(body) ? scanResponse(body) : null
  if (found?.error === undefined || found.error === 'null' || found.id !== String(id)) return null
  return readError(found.error, found.id, id)
}

function readError(error: Raw, sent: Raw | undefined, id: number): ErrorReply | null {
  // A node that could not read the request answers with id null (JSON-RPC 2.0, section 5).
  if (sent !== String(id) && sent !== 'null' && sent !== undefined) return null
  if (error.charCodeAt(0) !== 123) return null
  const { code, message } = decodeJson(error) as { code?: unknown; message?: unknown }
  if (typeof code !== 'number') return null
  return { kind: 'error', error, code, message: typeof message === 'string' ? message : '' }
}

/** The members of one response object that matter, each as it was sent; null when the body is no such object. */
export function scanResponse(body: Raw): Found | null {
  const begin = skipSpace(body, 0)
  if (body.charCodeAt(begin) !== 123) return null
  const found: Found = {}
  const end = walkMembers(body, begin, (nameAt, valueAt) => {
    const valueEnd = skipValue(body, valueAt, MAX_REPLY_DEPTH - 1)
    if (valueEnd < 0) return valueEnd
    for (const name of NAMES) {
      const match = matchName(body, nameAt, name)
      if (match === 'variant' && name !== 'id') found.ambiguous = name
      if (match !== 'same') continue
      if (found[name] !== undefined) found.ambiguous = name
      found[name] = body.slice(valueAt, valueEnd)
    }
    return valueEnd
  })
  return end < 0 || found.ambiguous !== undefined || skipSpace(body, end) !== body.length ? null : found
}
