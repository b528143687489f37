/** Reading the error object of a reply that is too long to hold: from its first part, which may end anywhere. */
import { memberOf } from './elements.ts'
import { decodeJson } from './raw.ts'
import type { Reply } from './message.ts'
import type { Raw } from './raw.ts'
import { INVALID, skipName, skipSpace, skipString, skipValue } from './skip.ts'

/** Characters kept of a string that the first part does not end. */
const MOST_OF_A_STRING = 4096
/** Levels of nesting believed in a node's reply. */
const MAX_DEPTH = 10_000

/**
 * Reads the error object at `begin` as far as it has arrived: an incomplete string is truncated, any other incomplete value is dropped.
 * Returns null if no complete `code` has arrived.
 */
export function readOpenError(head: Raw, begin: number): Extract<Reply, { kind: 'error' }> | null {
  const error = closed(head, begin)
  const code = memberOf(error, 'code')
  if (typeof code !== 'string' || !/^-?\d/.test(code)) return null
  const message = memberOf(error, 'message')
  const text = message?.charCodeAt(0) === 34 ? (decodeJson(message) as string) : ''
  return { kind: 'error', error, code: Number(code), message: text }
}

function closed(head: Raw, begin: number): Raw {
  const members: Raw[] = []
  let at = begin
  do {
    at = skipSpace(head, at + 1)
    const valueAt = skipName(head, at)
    if (valueAt < 0) break
    const found = skipValue(head, valueAt, MAX_DEPTH)
    // A number at the very end may have more digits to come.
    const end = found < head.length ? found : INVALID
    const value = end < 0 ? cutString(head, valueAt) : head.slice(valueAt, end)
    if (value !== null) members.push(`${head.slice(at, skipString(head, at))}:${value}`)
    if (end < 0) break
    at = skipSpace(head, end)
  } while (head.charCodeAt(at) === 44)
  return `{${members.join()}}`
}

/** The begin of the string that opens at `at`; null where none does. Only what needs no escape is kept. */
function cutString(head: Raw, at: number): Raw | null {
  if (head.charCodeAt(at) !== 34) return null
  return `${/^"[^"\\\x00-\x1f\x80-\xff]*/.exec(head.slice(at, at + MOST_OF_A_STRING))![0]}"`
}
