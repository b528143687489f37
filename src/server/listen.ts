/** Binding a server, and letting go of it. */
import type { Server } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import { leave } from './leaving.ts'
import { repliesOf } from './replies.ts'
import { endUnused, watchUnused } from './unused.ts'
import type { AddressInfo } from 'node:net'

/** Binds; resolves to `host:port` as bound, rejects with one sentence an operator can act on. */
export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
  watchUnused(server)
  return new Promise((resolve, reject) => {
    server.once('error', (error: NodeJS.ErrnoException) => {
      const why = error.code === 'EADDRINUSE' ? 'the port is in use' : error.message
      reject(new Error(`cannot listen on ${host}:${port}: ${why}`))
    })
    server.listen({ host, port }, () => {
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
  readonly idle: Promise<void>
  /** Milliseconds that it may take. */
  readonly patience: number
  /** Ends the calls in flight after that, so that each is answered. */
  readonly endCalls: () => void
  /** Answers what is in flight even then. */
  readonly cutShort: () => void
}

/** Stops taking connections, waits for what is in flight, then ends the rest. */
export async function drain(server: Server, { idle, patience, endCalls, cutShort }: Drain): Promise<void> {
  const closed = new Promise<void>(resolve => {
    server.close(() => {
      resolve()
    })
  })
  server.closeIdleConnections()
  endUnused(server)
  repliesOf(server).end()
  if (!(await orAfter(idle, patience))) {
    endCalls()
    if (!(await orAfter(idle, LAST_CALLS))) cutShort()
  }
  // What was answered last leaves, and is over, before its connection is.
  leave()
  await turn()
  server.closeIdleConnections()
  if (patience > 0) await orAfter(closed, LAST_BYTES)
  server.closeAllConnections()
  await closed
}

/** Whether the event came within `ms` milliseconds. */
export async function orAfter(event: Promise<void>, ms: number): Promise<boolean> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<boolean>(resolve => {
    timer = setTimeout(resolve, ms, false)
  })
  const inTime = await Promise.race([event.then(() => true), late])
  clearTimeout(timer)
  return inTime
}
