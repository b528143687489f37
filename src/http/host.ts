/** What a Host header or the authority of an absolute target may be (RFC 9110, section 7.2): a name or address, and a port. */
import { isIPv6 } from 'node:net'

const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?::([1-9]\d{0,4}))?$/
const LITERAL = /^\[([0-9A-Fa-f:.]+)\](?::([1-9]\d{0,4}))?$/
const MAX_LENGTH = 260
const MAX_PORT = 65_535

/** The last valid one: most of the time the next request has the same. */
let last = 'localhost'

/** Whether a text is `host[:port]` and nothing else: lists, user information, paths and blanks mean different hosts to different readers. */
export function isHost(text: string): boolean {
  if (text === last) return true
  if (text.length > MAX_LENGTH) return false
  const literal = LITERAL.exec(text)
  const match = literal ?? NAME.exec(text)
  if (match === null) return false
  if (literal !== null && !isIPv6(literal[1] ?? '')) return false
  const port = literal === null ? match[1] : match[2]
  if (port !== undefined && Number(port) > MAX_PORT) return false
  last = text
  return true
}
