/** What an upstream says over its socket: replies to our requests, and notifications. */
import { matchName, nameOf } from '../../jsonrpc/elements.ts'
import type { Reply } from '../../jsonrpc/message.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { readReply } from '../../jsonrpc/message.ts'
import { skipSpace, skipValue, TOO_MANY, walkMembers } from '../../jsonrpc/skip.ts'

/** Levels of nesting in a frame. */
const MAX_DEPTH = 10_000

/** One message of a subscription, its parts as they were sent. */
export interface Notification {
  readonly kind: 'notification'
  /** Such as `eth_subscription` or `slotNotification`. */
  readonly method: string
  /** The upstream's id of the subscription, raw. */
  readonly subscription: Raw
  readonly result: Raw
}

/** A reply to one of our requests. */
export interface FrameReply {
  readonly kind: 'reply'
  readonly id: number
  /** Null when it is not well formed. */
  readonly reply: Reply | null
}

/** Reads a text frame; null when it is neither. A notification may be megabytes, so it is scanned once. */
export function readFrame(raw: Raw): Notification | FrameReply | null {
  const begin = skipSpace(raw, 0)
  if (raw.charCodeAt(begin) !== 123) return null
  const [outer, inner] = [new Members(OUTER), new Members(INNER)]
  const end = walkMembers(raw, begin, (nameAt, at) => {
    const isObject = raw.charCodeAt(at) === 123 && matchName(raw, nameAt, 'params') === 'same'
    const valueEnd = isObject
      ? walkMembers(raw, at, (name, value) => inner.keep(raw, name, value, skipValue(raw, value, MAX_DEPTH)))
      : skipValue(raw, at, MAX_DEPTH)
    return outer.keep(raw, nameAt, at, valueEnd)
  })
  if (end < 0) return null
  const [method, id, params] = outer.values
  // A duplicate member has no one meaning.
  if (method === null || id === null || params === null) return null
  if (method === undefined)
    return id === undefined
      ? null
      : { kind: 'reply', id: Number(id), reply: readReply(raw.slice(begin, end), Number(id)) }
  if (method.charCodeAt(0) !== 34 || params?.charCodeAt(0) !== 123) return null
  const [subscription, result] = inner.values
  if (subscription == null || result == null) return null
  return { kind: 'notification', method: nameOf(method), subscription, result }
}

const OUTER = ['method', 'id', 'params']
const INNER = ['subscription', 'result']
/** Members of an object at most. */
const MAX_MEMBERS = 1000

/** The members of an object that are looked for, as `pickMembers` gives them. */
class Members {
  readonly values: (Raw | undefined | null)[]
  readonly #names: readonly string[]
  #count = 0

  constructor(names: readonly string[]) {
    this.#names = names
    this.values = names.map(() => undefined)
  }

  /** Takes in the next member, whose value ends at `end`; gives that back, or TOO_MANY. */
  keep(raw: Raw, nameAt: number, at: number, end: number): number {
    if (end < 0) return end
    for (const [k, name] of this.#names.entries()) {
      const match = matchName(raw, nameAt, name)
      if (match === 'other') continue
      this.values[k] = match === 'variant' || this.values[k] !== undefined ? null : raw.slice(at, end)
    }
    this.#count += 1
    return this.#count <= MAX_MEMBERS ? end : TOO_MANY
  }
}

/** Whether a result is what identifies a subscription: a string that is not empty, or an integer. */
export function isSubscriptionId(result: Raw): boolean {
  return result.charCodeAt(0) === 34 ? result.length > 2 : /^-?\d+$/.test(result)
}
