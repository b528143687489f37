/** Replies that wait for their client: what they hold is given back once they have been sent, or cannot be any more. */
import type { ServerResponse } from 'node:http'
import type { Budget } from '../../limits/byte-budget.ts'
import { connectionOf } from '../connection.ts'

/** Bytes that a reply under way costs besides its own: request, response, headers. */
const PER_REPLY = 4 * 1024

type Release = () => void

/** Replies of which somebody keeps count. */
const counted = new WeakSet<ServerResponse>()

/** Calls `release` once: when the reply has been sent, or its connection is gone. */
export function whenSent(response: ServerResponse, release: Release): void {
  const { socket } = response.req
  if (response.closed || socket.destroyed) {
    release()
    return
  }
  counted.add(response)
  const once = (): void => {
    if (stay()) release()
  }
  const stay = connectionOf(socket).whenGone(once)
  response.once('close', once)
}

/**
 * Counts a whole reply that its client has not taken at once, in the caller's budget, or where none is known in the connection's; without
 * room for it, the connection ends.
 */
export function countUnsent(response: ServerResponse, bytes: number, callers: Budget | null): void {
  if (response.writableLength === 0 || counted.has(response)) return
  const { socket } = response.req
  const budget = callers ?? connectionOf(socket).budget
  if (budget === null) return
  const held = bytes + PER_REPLY
  if (!budget.take(held)) {
    socket.destroy()
    return
  }
  whenSent(response, () => {
    budget.giveBack(held)
  })
}
