/**
 * Whether a node's message quotes the call that drew it. Such a message says what the client chose, so its text decides
 * nothing: otherwise `web3_sha3 ["too many requests"]` would pause routes.
 */
import { nameOf } from '../../jsonrpc/names.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { skipSpace, skipString } from '../../jsonrpc/skip.ts'
import { lettersOf, spelledByHex } from './letters.ts'
import type { Span } from './pattern.ts'

/** Characters in a row that make a quotation. Fewer stand in many messages by chance. */
const LEAST = 6
/** Characters of one string that are read: nodes quote from the beginning. */
const MOST_OF_A_STRING = 16 * 1024
/** Characters of all strings that are read; params with more count as quoted, for nobody can tell in good time. */
const MOST_OF_ALL = 64 * 1024

/** Words of the protocols that stand in calls and, by themselves, in what nodes say of blocks, ranges and filters. */
const OWN_WORDS: ReadonlySet<string> = new Set(
  `latest pending earliest finalized safe confirmed processed address topics fromBlock toBlock blockHash blockNumber
  timeout tracer commitment limit before until encoding`.split(/\s+/),
)

/** Strings of a call's params: values as they are, and the names of members, which strict nodes quote as well. */
interface Strings {
  readonly values: readonly string[]
  readonly names: readonly string[]
  /** Whether there were more than are read. */
  readonly tooMany: boolean
}

/**
 * Whether `message` (in lower case) quotes `params`, a valid JSON array or object: a string of them stands in it, or six
 * letters and digits in a row of which at least one was matched (`spans`) stand in them, whatever was escaped, split or
 * spelled in hex between the two.
 */
export function isQuotation(message: string, spans: readonly Span[], params: Raw): boolean {
  const { values, names, tooMany } = stringsOf(params)
  if (tooMany) return true
  if (values.length === 0 && names.length === 0) return false
  const letters = lettersOf(message)
  if (values.some(value => stands(value, message, letters))) return true
  const stream = [...values, ...names].map(lettersOf).join('')
  return windowsAround(message, letters, spans).some(window => stream.includes(window))
}

function stands(value: string, message: string, letters: string): boolean {
  if (value.length < LEAST || value.length > message.length) return false
  if (message.includes(value.toLowerCase())) return true
  const reduced = lettersOf(value)
  return reduced.length >= LEAST && letters.includes(reduced)
}

/** Every six letters and digits in a row of which at least one was matched; all of a message that has fewer. */
function windowsAround(message: string, letters: string, spans: readonly Span[]): string[] {
  if (letters.length < LEAST) return letters === '' ? [] : [letters]
  const windows = new Set<string>()
  for (const [from, to] of spans) {
    const first = Math.max(0, lettersOf(message.slice(0, from)).length - LEAST + 1)
    const last = Math.min(lettersOf(message.slice(0, to)).length - 1, letters.length - LEAST)
    for (let at = first; at <= last; at += 1) windows.add(letters.slice(at, at + LEAST))
  }
  return [...windows]
}

function stringsOf(params: Raw): Strings {
  const [values, names]: [string[], string[]] = [[], []]
  let read = 0
  let at = params.indexOf('"')
  while (at >= 0) {
    const end = skipString(params, at)
    if (end < 0) break
    const text = textAt(params, at, end)
    read += Math.min(end - at, MOST_OF_A_STRING)
    if (read > MOST_OF_ALL) return { values, names, tooMany: true }
    if (!OWN_WORDS.has(text)) {
      const isName = params.charCodeAt(skipSpace(params, end)) === 58
      ;(isName ? names : values).push(text)
      const spelled = spelledByHex(text)
      if (spelled !== null) values.push(spelled)
    }
    at = params.indexOf('"', end)
  }
  return { values, names, tooMany: false }
}

/** The string between two places. A long one is cut, and its escapes left to `lettersOf`. */
function textAt(params: Raw, at: number, end: number): string {
  if (end - at <= MOST_OF_A_STRING) return nameOf(params.slice(at, end))
  // An even length, so that hex is still hex.
  return params.slice(at + 1, at + 1 + MOST_OF_A_STRING)
}
