import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { AddressInfo, Socket } from 'node:net'
import { openSocket } from './tcp.ts'
import type { Teardown } from './teardown.ts'

/** Two requests on one connection, whose client reads nothing, and their replies. */
export interface Pipelined {
  readonly socket: Socket
  readonly responses: readonly [ServerResponse, ServerResponse]
}

/** Sends both to a server that answers nothing by itself. */
export async function pipelined(t: Teardown, server: Server): Promise<Pipelined> {
  const both = new Promise<[ServerResponse, ServerResponse]>(resolve => {
    let first: ServerResponse | null = null
    const enter = (_: IncomingMessage, response: ServerResponse): void => {
      if (first === null) first = response
      else {
        server.off('request', enter)
        resolve([first, response])
      }
    }
    server.on('request', enter)
  })
  const socket = await openSocket((server.address() as AddressInfo).port)
  t.teardown(() => socket.destroy())
  socket.pause()
  socket.write('GET / HTTP/1.1\r\nHost: a\r\n\r\n'.repeat(2))
  return { socket, responses: await both }
}
