/** Requests that differ in white space alone are equal: to the cache, to calls in flight and to subscriptions. */
import type { Raw } from './raw.ts'
import { skipSpace, skipString } from './skip.ts'

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
