/** A message: the body of a POST or a text frame, which holds one call or a batch of them. */
import { isUtf8 } from 'node:buffer'
import { scanCall } from './call.ts'
import type { BadCall, Call } from './call.ts'
import type { Raw } from './raw.ts'
import { refuse } from './refusal.ts'
import type { Refusal } from './refusal.ts'
import { TOO_DEEP, skipSpace } from './skip.ts'
import { walkElements } from './walk.ts'

/** What a message asks: one call, or several whose answers travel as one array. */
export type Message =
  | { readonly kind: 'single'; readonly item: Call | BadCall }
  | { readonly kind: 'batch'; readonly items: readonly (Call | BadCall)[] }
  | { readonly kind: 'refused'; readonly refusal: Refusal }

/** Scans a message once; no value in it is decoded. `maxDepth` counts every level of the body. */
export function scanMessage(body: Buffer, maxDepth: number): Message {
  if (!isUtf8(body)) return refused('parse_error')
  const raw = body.toString('latin1')
  const begin = skipSpace(raw, 0)
  if (raw.charCodeAt(begin) === 91) return scanBatch(raw, begin, maxDepth)
  const { end, item } = scanCall(raw, begin, maxDepth)
  if (item === null) return broken(end)
  if (skipSpace(raw, end) !== raw.length) return refused('parse_error')
  return { kind: 'single', item }
}

function scanBatch(raw: Raw, begin: number, maxDepth: number): Message {
  const items: (Call | BadCall)[] = []
  const batchEnd = walkElements(raw, begin, at => {
    const { end, item } = scanCall(raw, at, maxDepth - 1)
    if (item !== null) items.push(item)
    return end
  })
  if (batchEnd < 0) return broken(batchEnd)
  if (skipSpace(raw, batchEnd) !== raw.length) return refused('parse_error')
  if (items.length === 0) return refused('invalid_request', 'The batch is empty')
  return { kind: 'batch', items }
}

function broken(end: number): Message {
  return end === TOO_DEEP ? refused('invalid_request', 'The JSON is nested too deep') : refused('parse_error')
}

function refused(reason: 'parse_error' | 'invalid_request', detail?: string): Message {
  return { kind: 'refused', refusal: refuse(reason, detail) }
}
