/** Binding a server, and letting go of it. */
import type { Server } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { bytesOf, endIdle, noMoreCome, noneOpen, SPREAD, watchConnections } from './connections/idle.ts'
import { passIdleOn } from './connections/passed-on.ts'
import type { PassOn } from './connections/passed-on.ts'
import { connectionsOf } from './connection.ts'
import { leave } from './replies/write-batching.ts'
import { listenFault } from './listen-fault.ts'
import { orAfter } from '../net/or-after.ts'
import { Server as NetServer } from 'node:net'
import type { AddressInfo } from 'node:net'

/** Where to listen: at an address, or on a socket that is bound already, by its descriptor. */
export type ListenAt = { readonly host: string; readonly port: number } | { readonly fd: number }

/** Binds; resolves to `host:port` as bound, rejects with one sentence an operator can act on. */
export function listen(server: Server, at: ListenAt): Promise<string> {
  watchConnections(server)
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      reject(
        'fd' in at
          ? new Error(`cannot listen on the socket ${at.fd}: ${error.message}`)
          : new Error(listenFault(at.host, at.port, error)),
      )
    })
    server.listen(at, () => {
      const { address, port: bound, family } = server.address() as AddressInfo
      resolve(family === 'IPv6' ? `[${address}]:${bound}` : `${address}:${bound}`)
    })
  })
}

/** Milliseconds that calls get to end once their upstreams are closed. */
export const LAST_CALLS = 1_000

/** Milliseconds that finished replies get to leave before their connections are ended. */
const LAST_BYTES = 1_000

/** What a drain waits for. */
export interface Drain {
  /** Resolves when nothing is in flight any more. */
  readonly idle: () => Promise<void>
  /** Milliseconds that it may take. */
  readonly patience: number
  /** Milliseconds of it that idle connections stay. */
  readonly keepIdle: number
  /** Whether connections that still come are taken; where other processes listen on the same socket, they take them. */
  readonly takesLast: boolean
  /** Gives a connection on which nothing is in flight to another process, which goes on with it; null where nobody takes them. */
  readonly passOn: PassOn | null
  /** Ends the calls in flight after that, so that each is answered. */
  readonly endCalls: () => void
  /** Answers what is in flight even then. */
  readonly cutShort: () => void
}

/**
 * Ends a server: connections that still come are served for as long as they do (a balancer takes a moment to hear that we are not ready, and
 * closing a listener resets those in its queue), those that are idle stay for `keepIdle`, what is in flight is finished, and the rest ended.
 */
export async function drain(server: Server, options: Drain): Promise<void> {
  const { patience, endCalls, cutShort } = options
  const end = performance.now() + patience
  const left = (): number => Math.max(0, end - performance.now())
  // A client may be sending on a connection that is idle for us: its next reply says that it is the last one.
  connectionsOf(server).end()
  const before = bytesOf(server)
  const spread = Math.min(SPREAD, patience)
  const keepIdle = Math.min(options.keepIdle, patience - spread)
  const idleUntil = performance.now() + keepIdle
  if (options.takesLast) await noMoreCome(server, keepIdle)
  const closed = stopListening(server)
  const patienceForIdle = (): number => Math.max(0, idleUntil - performance.now())
  if (options.passOn !== null) await passIdleOn(server, options.passOn, patienceForIdle())
  await endIdle(server, before, { patience: patienceForIdle(), spread })
  if (!(await orAfter(options.idle(), left()))) {
    endCalls()
    if (!(await orAfter(options.idle(), LAST_CALLS))) cutShort()
  }
  // What was answered last leaves, and is over, before its connection is.
  leave()
  await turn()
  server.closeIdleConnections()
  // Connections that another process has accepted are none of the server's own, and it does not wait for them.
  if (patience > 0)
    await orAfter(
      Promise.all([closed, noneOpen(server)]).then(() => undefined),
      LAST_BYTES,
    )
  server.closeAllConnections()
  await closed
}

/** Takes no connection any more. Resolves when those that are open have ended. `close` of an HTTP server would end the idle ones with it. */
function stopListening(server: Server): Promise<void> {
  return new Promise(resolve => {
    NetServer.prototype.close.call(server, () => {
      resolve()
    })
  })
}
