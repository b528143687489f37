/** Tries addresses: whether somebody could listen on all of them. */
import { createServer } from 'node:net'
import type { Server } from 'node:net'
import type { ListenAddress } from '../config/types.ts'
import { listenFault } from '../http/listen-fault.ts'

/** An address to try. */
export interface Tried extends ListenAddress {
  /** Whether its port is known to become free: then any port of that host tells. */
  readonly willBeFree: boolean
}

/** Why nobody can listen on each; null for those that can be had together. */
export async function tryAddresses(addresses: readonly Tried[]): Promise<readonly (string | null)[]> {
  const open: Server[] = []
  const faults: (string | null)[] = []
  for (const address of addresses) {
    const tried = await tryAddress(address)
    faults.push(typeof tried === 'string' ? tried : null)
    if (typeof tried !== 'string') open.push(tried)
  }
  await Promise.all(open.map(close))
  return faults
}

function tryAddress({ host, port, willBeFree }: Tried): Promise<Server | string> {
  return new Promise(resolve => {
    const server = createServer()
    server.once('error', error => {
      resolve(listenFault(host, port, error))
    })
    server.listen({ host, port: willBeFree ? 0 : port, exclusive: true }, () => {
      resolve(server)
    })
  })
}

function close(server: Server): Promise<void> {
  return new Promise(resolve => {
    server.close(() => {
      resolve()
    })
  })
}
