/** What an upstream says over its socket: replies to our requests, and notifications. */
import { nameOf, pickMembers } from '../../jsonrpc/elements.ts'
import type { Reply } from '../../jsonrpc/message.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { readReply } from '../../jsonrpc/message.ts'
import { skipSpace, skipValue } from '../../jsonrpc/skip.ts'

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

/** Reads a text frame; null when it is neither. */
export function readFrame(raw: Raw): Notification | FrameReply | null {
  const begin = skipSpace(raw, 0)
  const end = raw.charCodeAt(begin) === 123 ? skipValue(raw, begin, MAX_DEPTH) : -1
  if (end < 0) return null
  const object = raw.slice(begin, end)
  const [method, id, params] = pickMembers(object, ['method', 'id', 'params'])
  // A duplicate member has no one meaning.
  if (method === null || id === null || params === null) return null
  if (method === undefined)
    return id === undefined ? null : { kind: 'reply', id: Number(id), reply: readReply(object, Number(id)) }
  if (method.charCodeAt(0) !== 34 || params?.charCodeAt(0) !== 123) return null
  const [subscription, result] = pickMembers(params, ['subscription', 'result'])
  if (subscription == null || result == null) return null
  return { kind: 'notification', method: nameOf(method), subscription, result }
}

/** Whether a result is what identifies a subscription: a string that is not empty, or an integer. */
export function isSubscriptionId(result: Raw): boolean {
  return result.charCodeAt(0) === 34 ? result.length > 2 : /^-?\d+$/.test(result)
}
