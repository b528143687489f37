/** A way to PostgreSQL that loses what a test wants it to lose. */
import { createServer, connect } from 'node:net'
import type { Socket } from 'node:net'
import { once } from 'node:events'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './teardown.ts'

/** What happens to a COMMIT: its reply is lost, or it is, each with its connection. */
export type Loss = 'nothing' | 'reply' | 'commit'

/** What is on the way. */
export interface PostgresProxy {
  /** With the address of the proxy in place of the server's. */
  readonly url: string
  /** The next COMMIT; then nothing is lost again. `lost` is called when it was, before the client knows. */
  loseNext(loss: Loss, lost?: () => void): void
  /** Whether notifications get through. */
  notifies: boolean
  /** Refuses connections and ends those that are there, until it is false. */
  set isCut(cut: boolean)
}

const COMMIT = Buffer.from('COMMIT\0')
const NOTIFICATION = 'A'.charCodeAt(0)

/** Starts a proxy before a server. */
export async function startPostgresProxy(t: Teardown, serverUrl: string): Promise<PostgresProxy> {
  const target = new URL(serverUrl)
  const sockets = new Set<Socket>()
  let next: { loss: Loss; lost: () => void } = { loss: 'nothing', lost: () => undefined }
  let cut = false
  const proxy = createServer(client => {
    if (cut) {
      client.destroy()
      return
    }
    const server = connect(Number(target.port), target.hostname)
    for (const [socket, other] of [
      [client, server],
      [server, client],
    ] as const) {
      sockets.add(socket)
      socket.setNoDelay(true)
      socket.on('error', () => undefined)
      socket.on('close', () => {
        sockets.delete(socket)
        other.destroy()
      })
    }
    let losing: Loss = 'nothing'
    client.on('data', data => {
      if (next.loss !== 'nothing' && data.includes(COMMIT)) {
        const { loss, lost } = next
        next = { loss: 'nothing', lost: () => undefined }
        losing = loss
        if (loss === 'commit') {
          lost()
          client.destroy()
          return
        }
        server.once('data', () => {
          lost()
          client.destroy()
        })
      }
      server.write(data)
    })
    let rest: Buffer = Buffer.alloc(0)
    server.on('data', data => {
      if (losing !== 'nothing') return
      rest = Buffer.concat([rest, data])
      // A byte of type, and a length that counts itself.
      while (rest.length >= 5 && rest.length >= rest.readInt32BE(1) + 1) {
        const message = rest.subarray(0, rest.readInt32BE(1) + 1)
        rest = rest.subarray(message.length)
        if (message[0] !== NOTIFICATION || made.notifies) client.write(message)
      }
    })
  })
  proxy.listen(0, '127.0.0.1')
  await once(proxy, 'listening')
  t.teardown(() => {
    proxy.close()
    for (const socket of sockets) socket.destroy()
  })
  const url = new URL(serverUrl)
  url.port = String((proxy.address() as AddressInfo).port)
  const made = {
    url: url.href,
    notifies: true,
    loseNext: (loss: Loss, lost: () => void = () => undefined) => {
      next = { loss, lost }
    },
    set isCut(isCut: boolean) {
      cut = isCut
      if (isCut) for (const socket of sockets) socket.destroy()
    },
  }
  return made
}
