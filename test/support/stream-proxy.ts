/** A way to a server that a test cuts, or on which nothing gets through. */
import { createServer, connect } from 'node:net'
import type { AddressInfo, Socket } from 'node:net'
import { once } from 'node:events'
import type { Teardown } from './teardown.ts'

/** What every such way can do. */
export interface StreamProxy {
  /** Refuses connections and ends those that are there, until it is false. */
  set isCut(cut: boolean)
  /** Nothing gets through either way and nothing ends, as where packets are lost, until it is false. */
  set isStalled(stalled: boolean)
}

/** A port of an address of this machine, or a Unix socket. */
export type Place = { readonly host: string; readonly port: number } | { readonly path: string }

/** Passes on what one connection of a client sends, and what the server answers. */
export type Wire = (client: Socket, server: Socket) => void

/** Starts one at a place, before a server at another. */
export async function startStreamProxy(
  t: Teardown,
  at: Place,
  to: Place,
  wire: Wire,
): Promise<StreamProxy & { readonly port: number }> {
  const sockets = new Set<Socket>()
  let isCut = false
  let isStalled = false
  const proxy = createServer(client => {
    if (isCut) {
      client.destroy()
      return
    }
    const server = connect(to)
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      if (isStalled) socket.pause()
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    wire(client, server)
  })
  proxy.listen(at)
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  return {
    port: 'port' in at ? (proxy.address() as AddressInfo).port : 0,
    set isCut(cut: boolean) {
      isCut = cut
      if (cut) for (const socket of sockets) socket.destroy()
    },
    set isStalled(stalled: boolean) {
      isStalled = stalled
      for (const socket of sockets)
        if (stalled) socket.pause()
        else socket.resume()
    },
  }
}

/** Any port of loopback, or this one. */
export const loopback = (port = 0): Place => ({ host: '127.0.0.1', port })
