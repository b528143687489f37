/**
 * Whether a node's message quotes the call that drew it. Such a message says what the client chose, so its text decides
 * nothing: otherwise `web3_sha3 ["too many requests"]` would pause routes.
 */
import { nameOf } from '../../jsonrpc/elements.ts'
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
  `latest pending earliest finalized safe confirmed processed before until limit callTracer prestateTracer
  flatCallTracer 4byteTracer muxTracer noopTracer`.split(/\s+/),
)

const HEX = /^0x[0-9a-f]*$/i

/** The strings of a call's params. */
interface Strings {
  /** Text that a client chooses freely: values other than OWN_WORDS and 0x-prefixed hex, the text that hex spells, unknown member names. */
  readonly free: readonly string[]
  /** The letters of all strings one behind the other, and those of the free ones. */
  readonly letters: string
  readonly freeLetters: string
}

/**
 * Whether `message` (in lower case) quotes `params`, a valid JSON array or object: a string of them stands in it, or
 * what was matched in it (`spans`) stands in them, or six letters and digits in a row of which at least one was
 * matched do, whatever was escaped, split or spelled in hex between the two.
 */
export function isQuotation(message: string, spans: readonly Span[], params: Raw): boolean {
  const strings = stringsOf(params)
  if (strings === null) return true
  if (strings.free.length === 0 && strings.letters === '') return false
  const letters = lettersOf(message)
  if (strings.free.some(text => stands(text, message, letters))) return true
  if (spans.every(([from, to]) => strings.letters.includes(lettersOf(message.slice(from, to))))) return true
  return windowsAround(message, letters, spans).some(window => strings.freeLetters.includes(window))
}

function stands(text: string, message: string, letters: string): boolean {
  if (text.length < LEAST || text.length > message.length) return false
  if (message.includes(text.toLowerCase())) return true
  const reduced = lettersOf(text)
  return reduced.length >= LEAST && letters.includes(reduced)
}

/** Every six letters and digits in a row of which at least one was matched. */
function windowsAround(message: string, letters: string, spans: readonly Span[]): string[] {
  const windows = new Set<string>()
  for (const [from, to] of spans) {
    const first = Math.max(0, lettersOf(message.slice(0, from)).length - LEAST + 1)
    const last = Math.min(lettersOf(message.slice(0, to)).length - 1, letters.length - LEAST)
    for (let at = first; at <= last; at += 1) windows.add(letters.slice(at, at + LEAST))
  }
  return [...windows]
}

/** Null when there are more than can be read in good time. */
function stringsOf(params: Raw): Strings | null {
  const free: string[] = []
  let [letters, freeLetters, read] = ['', '', 0]
  for (let at = params.indexOf('"'); at >= 0;) {
    const end = skipString(params, at)
    if (end < 0) break
    read += Math.min(end - at, MOST_OF_A_STRING)
    if (read > MOST_OF_ALL) return null
    const text = textAt(params, at, end)
    const spelled = spelledByHex(text)
    // Nodes put hashes, numbers and addresses into sentences of their own; only what the digits spell is a client's text.
    const isHex = HEX.test(text)
    const own = lettersOf(spelled ?? (isHex ? '' : text))
    letters += own
    if (!OWN_WORDS.has(text) && !isPlainName(params, end, text)) {
      if (!isHex) free.push(text)
      if (spelled !== null) free.push(spelled)
      freeLetters += own
    }
    at = params.indexOf('"', end)
  }
  return { free, letters, freeLetters }
}

/** Whether the string that ends at `end` names a member, with a plain word as every protocol does. */
function isPlainName(params: Raw, end: number, text: string): boolean {
  return params.charCodeAt(skipSpace(params, end)) === 58 && /^\w+$/.test(text)
}

/** The string between two places. A long one is cut, and its escapes left to `lettersOf`. */
function textAt(params: Raw, at: number, end: number): string {
  if (end - at <= MOST_OF_A_STRING) return nameOf(params.slice(at, end))
  // An even length, so that hex is still hex.
  return params.slice(at + 1, at + 1 + MOST_OF_A_STRING)
}
