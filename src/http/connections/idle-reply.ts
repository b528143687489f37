/**
 * Ends connections on which nothing moves: those with a reply under way, and those that wait for their next request. Node has bounds of its own
 * (`server.timeout`, `server.keepAliveTimeout`), for which it sets timers anew at every request, reply, read and write, which cost 2 % of a call each
 * (bench/builds.ts); a look at all connections now and then costs a call nothing.
 */
import type { Server, ServerResponse } from 'node:http'
import { connectionOf, connectionsOf } from '../connection.ts'

/** Milliseconds after which a connection that is silent amid a reply is cut (above the longest call). */
export const SILENCE = 120_000
/** Most milliseconds between two looks, and how many there are at least in the shorter bound. */
const LOOK_EVERY = 10_000
const LOOKS = 4

/** How long a connection may be silent in milliseconds: amid a reply, and between its requests. */
export interface IdleBounds {
  readonly silence: number
  readonly keepAlive: number
}

/**
 * Begins to look at the connections of a server on which something was asked, until it is closed. The rest is Node's to end: `headersTimeout`,
 * `requestTimeout`.
 */
export function boundIdleReplies(server: Server, { silence, keepAlive }: IdleBounds): void {
  server.keepAliveTimeout = 0
  const timer = setInterval(
    () => {
      const now = performance.now()
      for (const [socket, connection] of connectionsOf(server).all()) {
        const bytes = socket.bytesRead + socket.bytesWritten
        const { movement } = connection
        if (movement?.bytes !== bytes) connection.movement = { bytes, since: now }
        else if (now - movement.since >= (connection.isBusy ? silence : keepAlive) && !connection.mayIdle)
          socket.destroy()
      }
    },
    Math.min(LOOK_EVERY, silence / LOOKS, keepAlive / LOOKS),
  )
  timer.unref()
  server.on('close', () => {
    clearInterval(timer)
  })
}

/** Lets a reply be silent: an event stream has nothing to say for hours. */
export function mayIdle(response: ServerResponse): void {
  const { socket } = response
  if (socket === null) return
  const connection = connectionOf(socket)
  connection.mayIdle = true
  response.once('close', () => {
    connection.mayIdle = false
  })
}
