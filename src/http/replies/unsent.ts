/** Replies that wait for their client: what they hold is given back once they have been sent, or cannot be any more. */
import type { ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Budget } from '../../limits/byte-budget.ts'

/** Bytes that a reply under way costs besides its own: request, response, headers. */
const PER_REPLY = 4 * 1024

type Release = () => void

/** The budget that the replies of a connection draw on. */
const budgets = new WeakMap<Socket, Budget>()

/** Counts what waits to be sent on a connection from now on. */
export function countOn(socket: Socket, budget: Budget): void {
  budgets.set(socket, budget)
}

/** By connection: Node reports the end of it to the first of several queued replies only. */
const waiting = new WeakMap<Socket, Set<Release>>()
/** Replies of which somebody keeps count. */
const counted = new WeakSet<ServerResponse>()

/** Calls `release` when a connection is gone; until then the function returned takes it back, and says whether it was waiting. */
export function whenGone(socket: Socket, release: Release): () => boolean {
  let ofSocket = waiting.get(socket)
  if (ofSocket === undefined) {
    const releases = new Set<Release>()
    waiting.set(socket, releases)
    socket.once('close', () => {
      for (const each of releases) each()
      releases.clear()
    })
    ofSocket = releases
  }
  const releases = ofSocket
  releases.add(release)
  return () => releases.delete(release)
}

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
  const stay = whenGone(socket, once)
  response.once('close', once)
}

/**
 * Counts a whole reply that its client has not taken at once, in the caller's budget, or where none is known in the connection's; without
 * room for it, the connection ends.
 */
export function countUnsent(response: ServerResponse, bytes: number, callers: Budget | null): void {
  if (response.writableLength === 0 || counted.has(response)) return
  const { socket } = response.req
  const budget = callers ?? budgets.get(socket)
  if (budget === undefined) return
  const held = bytes + PER_REPLY
  if (!budget.take(held)) {
    socket.destroy()
    return
  }
  whenSent(response, () => {
    budget.giveBack(held)
  })
}
