/**
 * Connections that a process which leaves passes on to another one. However long an idle connection is left open before it is closed, its client may be
 * sending on it at that moment, and the call is lost; where others go on, none has to be closed.
 */
import type { Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn } from 'node:timers/promises'
import { detach, isWritten } from '../../net/connection-handle.ts'
import type { ConnectionHandle } from '../../net/connection-handle.ts'
import { orAfter } from '../../net/or-after.ts'
import { connectionOf, connectionsOf } from '../connection.ts'
import { noneOpen, openConnections } from './idle.ts'

/** Gives a connection to another process; `isKept` where something was asked on it. Resolves when it has left this one. */
export type PassOn = (handle: ConnectionHandle, isKept: boolean) => Promise<void>

/** Connections that are passed on in one turn of the event loop. */
const AT_A_TIME = 50
/** Milliseconds between two looks for those whose last reply has ended. */
const LOOK_EVERY = 50

/** Node's parser, as far as it is asked: for how long it has been reading a message; 0 between two of them. */
interface Parser {
  duration?(): number
}

/** Passes on each connection on which nothing is in flight, until none is open or `patience` milliseconds are over. */
export async function passIdleOn(server: Server, passOn: PassOn, patience: number): Promise<void> {
  const end = performance.now() + patience
  const passed: Promise<void>[] = []
  do {
    let count = 0
    for (const socket of openConnections(server)) {
      const { isKept } = connectionOf(socket)
      const handle = isBetweenRequests(socket) ? detach(socket) : null
      if (handle === null) continue
      passed.push(passOn(handle, isKept))
      if ((count += 1) % AT_A_TIME === 0) await turn()
    }
  } while (!(await orAfter(noneOpen(server), LOOK_EVERY)) && performance.now() < end)
  await Promise.all(passed)
}

/** Serves a connection that another process has accepted, and has served, where it `isKept`. */
export function takeConnection(server: Server, socket: Socket, isKept: boolean): void {
  // As those that a server accepts itself: what to do when a client ends its side is up to HTTP.
  socket.allowHalfOpen = true
  if (isKept) connectionsOf(server).keep(socket)
  server.emit('connection', socket)
  socket.resume()
}

/** Whether all that came on a connection is answered, and nothing of a next request has been read. */
function isBetweenRequests(socket: Socket): boolean {
  const { isBusy, isEnding, isRefused } = connectionOf(socket)
  if (isBusy || isEnding || isRefused || !socket.readable || !socket.writable) return false
  const { parser } = socket as { readonly parser?: Parser | null }
  const isBetween = socket.bytesRead === 0 || parser?.duration?.() === 0
  return isBetween && socket.readableLength === 0 && isWritten(socket)
}
