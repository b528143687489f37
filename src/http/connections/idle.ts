/** The connections of a server when it stops: those that still come, and those on which nothing is under way. */
import type { IncomingMessage, Server } from 'node:http'
import type { Socket } from 'node:net'
import { setImmediate as turn, setTimeout as pause } from 'node:timers/promises'
import { connectionsOf } from '../connection.ts'
import { orAfter } from '../../net/or-after.ts'

/** Milliseconds over which idle connections are ended: clients that all connect again in one moment are a burst for the others. */
export const SPREAD = 1_000
/** How many steps that takes at most. */
const STEPS = 20
/** Milliseconds without a new connection after which none is expected: balancers have heard that we are not ready. */
const NO_MORE = 250

/** By the other end: under TLS the socket of the requests is another one than that of the connection. */
class Open {
  readonly sockets = new Map<string, Socket>()
  /** When the last one came, on the clock of `performance.now()`. */
  lastAt = -Infinity
  #whenNone: (() => void)[] = []

  add(socket: Socket): void {
    const peer = peerOf(socket)
    this.lastAt = performance.now()
    this.sockets.set(peer, socket)
    socket.once('close', () => {
      if (this.sockets.get(peer) === socket) this.remove(peer)
    })
  }

  remove(peer: string): void {
    this.sockets.delete(peer)
    if (this.sockets.size === 0) for (const resolve of this.#whenNone.splice(0)) resolve()
  }

  /** Resolves when none is open. */
  none(): Promise<void> {
    return this.sockets.size === 0 ? Promise.resolve() : new Promise(resolve => this.#whenNone.push(resolve))
  }
}

const byServer = new WeakMap<Server, Open>()

/** Begins to watch the connections of a server; one that was upgraded is not its own any more. */
export function watchConnections(server: Server): void {
  const open = new Open()
  byServer.set(server, open)
  server.on('connection', socket => {
    open.add(socket)
  })
  server.prependListener('upgrade', ({ socket }: IncomingMessage) => {
    open.remove(peerOf(socket))
  })
}

/** Resolves when connections have ceased to come, after `patience` milliseconds at the latest, at a moment when none waits to be taken. */
export async function noMoreCome(server: Server, patience: number): Promise<void> {
  const open = byServer.get(server)
  const begin = performance.now()
  for (;;) {
    const now = performance.now()
    const since = Math.max(begin, open?.lastAt ?? 0)
    const left = Math.min(since + NO_MORE, begin + patience) - now
    if (left <= 0) return turn()
    await pause(left)
  }
}

/** Resolves when no connection of a server is open. */
export function noneOpen(server: Server): Promise<void> {
  return byServer.get(server)?.none() ?? Promise.resolve()
}

/** Those that are open, the newest last. */
export function openConnections(server: Server): readonly Socket[] {
  return [...(byServer.get(server)?.sockets.values() ?? [])]
}

/** What came on each open connection so far, in bytes. */
export function bytesOf(server: Server): ReadonlyMap<Socket, number> {
  return new Map(openConnections(server).map(socket => [socket, socket.bytesRead]))
}

/**
 * Leaves the connections `patience` milliseconds to end by themselves, then ends those on which nothing came since `before`, one after
 * the other over `spread` milliseconds, the newest last. Resolves as soon as none is open.
 */
export async function endIdle(
  server: Server,
  before: ReadonlyMap<Socket, number>,
  { patience, spread }: { readonly patience: number; readonly spread: number },
): Promise<void> {
  const open = byServer.get(server)
  if (open === undefined || (await orAfter(open.none(), patience))) return
  const all = [...open.sockets.values()]
  const steps = Math.min(STEPS, all.length)
  for (let step = 0; step < steps && open.sockets.size > 0; step++) {
    if (spread > 0) await orAfter(open.none(), spread / steps)
    // What has arrived is read first.
    await turn()
    const busy = new Set(busyOf(server).map(peerOf))
    for (const socket of part(all, step, steps)) {
      // A request on its way has bytes before it has a reply.
      if (socket.bytesRead === (before.get(socket) ?? 0) && !busy.has(peerOf(socket))) socket.destroy()
    }
  }
}

/** Those that have a reply in flight. */
function busyOf(server: Server): Socket[] {
  return [...connectionsOf(server).all()].flatMap(([socket, { isBusy }]) => (isBusy ? [socket] : []))
}

function part<T>(all: readonly T[], nth: number, of: number): readonly T[] {
  return all.slice(Math.floor((all.length * nth) / of), Math.floor((all.length * (nth + 1)) / of))
}

function peerOf({ remoteAddress = '', remotePort = 0 }: Socket): string {
  return `${remoteAddress} ${remotePort}`
}
