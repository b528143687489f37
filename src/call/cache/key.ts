/** What an answer is found by: the bytes that ask for it. */
import { skipSpace, skipString } from '../../jsonrpc/skip.ts'
import type { Raw } from '../../jsonrpc/raw.ts'

/**
 * The key of a call by its compact params. Nothing but white space between values is left out, which no parser reads: whatever else two requests
 * differ in, their keys differ. Neither slugs nor names of rules and methods hold a line break, so no part runs into the next.
 */
export function keyOf(network: string, method: string, compacted: Raw): string {
  return `${network}\n${method}\n${compacted}`
}

const BLANK = /[ \n\r\t]/

/** A valid JSON value without the white space outside of its strings. */
export function compact(raw: Raw): Raw {
  if (!BLANK.test(raw)) return raw
  let out = ''
  let from = 0
  for (let at = 0; at < raw.length;) {
    const c = raw.charCodeAt(at)
    if (c === 34) at = skipString(raw, at)
    else if (c === 32 || c === 10 || c === 13 || c === 9) {
      out += raw.slice(from, at)
      from = at = skipSpace(raw, at)
    } else at += 1
  }
  return out + raw.slice(from)
}
