/** Binding a server, and letting go of it. */
import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'

/** Binds; resolves to `host:port` as bound, rejects with one sentence an operator can act on. */
export function listen(
  server: Server,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<string> {
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

/** Milliseconds that finished replies get to leave before their connections are ended. */
const LAST_BYTES = 1_000

/** Stops taking connections, waits for what is in flight up to `patience` milliseconds, then ends the rest. */
export async function drain(server: Server, idle: Promise<void>, patience: number): Promise<void> {
  const closed = new Promise<void>(resolve => {
    server.close(() => {
      resolve()
    })
  })
  server.closeIdleConnections()
  await orAfter(idle, patience)
  server.closeIdleConnections()
  if (patience > 0) await orAfter(closed, LAST_BYTES)
  server.closeAllConnections()
  await closed
}

async function orAfter(event: Promise<void>, ms: number): Promise<void> {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<void>(resolve => {
    timer = setTimeout(resolve, ms)
  })
  await Promise.race([event, late])
  clearTimeout(timer)
}
