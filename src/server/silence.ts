/**
 * Cuts connections that have a reply under way and on which nothing moves. Node has a bound of its own (`server.timeout`), for which it sets a
 * timer anew at every request, reply, read and write; a look at all connections now and then costs a call nothing.
 */
import type { Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { repliesOf } from './replies.ts'

/** Milliseconds after which a silent connection is cut (above the longest call), and between two looks. */
const SILENCE = 120_000
const LOOK_EVERY = 10_000

/** How long a connection may be silent, and how often that is looked at, in milliseconds. */
export interface SilenceBound {
  readonly silence: number
  readonly every: number
}

/** Connections whose reply may be silent for as long as it lasts. */
const exempt = new WeakSet<Socket>()

/** What a look has seen: bytes that had moved so far, and since when there were no more. */
interface Look {
  readonly bytes: number
  readonly since: number
}

/** Begins to look at the connections of a server, until it is closed. Those without a reply under way are Node's to end. */
export function boundSilence(
  server: Server,
  { silence, every }: SilenceBound = { silence: SILENCE, every: LOOK_EVERY },
): void {
  const looks = new WeakMap<Socket, Look>()
  const timer = setInterval(() => {
    const now = performance.now()
    for (const socket of repliesOf(server).busy()) {
      const bytes = socket.bytesRead + socket.bytesWritten
      const last = looks.get(socket)
      if (last?.bytes !== bytes) looks.set(socket, { bytes, since: now })
      else if (now - last.since >= silence && !exempt.has(socket)) socket.destroy()
    }
  }, every)
  timer.unref()
  server.on('close', () => {
    clearInterval(timer)
  })
}

/** Lets a reply be silent: an event stream has nothing to say for hours. */
export function mayBeSilent(response: ServerResponse): void {
  const { socket } = response
  if (socket === null) return
  exempt.add(socket)
  response.once('close', () => {
    exempt.delete(socket)
  })
}
