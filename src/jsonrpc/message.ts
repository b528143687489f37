/** A message: the body of a POST or a text frame, which holds one call or a batch of them. */
import { isUtf8 } from 'node:buffer'
import { MAX_MEMBERS, scanCall } from './call.ts'
import type { BadCall, Call } from './call.ts'
import type { Raw } from './raw.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { TOO_DEEP, TOO_MANY, skipSpace, skipValue } from './skip.ts'
import { walkElements } from './walk.ts'

/** What a message asks: one call, or several whose answers travel as one array. */
export type Message =
  | { readonly kind: 'single'; readonly item: Call | BadCall }
  | { readonly kind: 'batch'; readonly items: readonly (Call | BadCall)[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Longest batch that is answered item by item. */
export const MAX_BATCH = 1000

/** Scans a message once; no value in it is decoded. `maxDepth` counts every level of the body; a batch keeps at most MAX_BATCH + 1 items. */
export function scanMessage(body: Buffer, maxDepth: number, anyVersion = false): Message {
  if (!isUtf8(body)) return refused('parse_error')
  const raw = body.toString('latin1')
  const begin = skipSpace(raw, 0)
  if (raw.charCodeAt(begin) === 91) return scanBatch(raw, begin, maxDepth, anyVersion)
  const { end, item } = scanCall(raw, begin, maxDepth, anyVersion)
  if (item === null) return broken(end)
  if (skipSpace(raw, end) !== raw.length) return refused('parse_error')
  return { kind: 'single', item }
}

function scanBatch(raw: Raw, begin: number, maxDepth: number, anyVersion: boolean): Message {
  const items: (Call | BadCall)[] = []
  const batchEnd = walkElements(raw, begin, at => {
    // One more tells that there are too many; the others still have to be JSON.
    if (items.length > MAX_BATCH) return skipValue(raw, at, maxDepth - 1)
    const { end, item } = scanCall(raw, at, maxDepth - 1, anyVersion)
    if (item !== null) items.push(item)
    return end
  })
  if (batchEnd < 0) return broken(batchEnd)
  if (skipSpace(raw, batchEnd) !== raw.length) return refused('parse_error')
  if (items.length === 0) return refused('invalid_request', 'The batch is empty')
  return { kind: 'batch', items }
}

function broken(end: number): Message {
  if (end === TOO_DEEP) return refused('invalid_request', 'The JSON is nested too deep')
  return end === TOO_MANY
    ? refused('invalid_request', `A call has at most ${MAX_MEMBERS} members`)
    : refused('parse_error')
}

function refused(reason: 'parse_error' | 'invalid_request', detail?: string): Message {
  return { kind: 'refused', refusal: refuse(reason, detail) }
}
