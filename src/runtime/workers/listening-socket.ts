/** Sockets on which other processes accept connections: bound once, by the primary, which never accepts any itself. */
import { lookup } from 'node:dns/promises'
import net, { createServer, isIP } from 'node:net'
import type { Socket } from 'node:net'
import { getSystemErrorName } from 'node:util'
import type { ListenAddress } from '../../config/types.ts'
import type { Bound as Addresses } from '../../http/admin/running.ts'
import { listenFault } from '../../http/listen-fault.ts'

/** A socket that is bound. As long as it is open, connections wait in its queue, whatever becomes of those who accept them. */
export interface ListeningSocket {
  readonly fd: number
  /** `host:port` as bound. */
  readonly address: string
  /** Accepts connections here, for who hands them over to other processes: nothing of them is read. */
  accept(connection: (socket: Socket) => void): void
  close(): void
}

/** The sockets of a gateway; they are open as long as the primary lives. */
export interface Sockets {
  readonly listen: ListeningSocket
  readonly admin: ListeningSocket
  readonly probes: ListeningSocket | null
}

/** Where they are bound. */
export function boundOf({ listen, admin, probes }: Sockets): Addresses {
  return {
    listen: listen.address,
    admin: admin.address,
    ...(probes === null ? {} : { probes: probes.address }),
  }
}

/** Closes them; again does nothing. */
export function closeAll({ listen, admin, probes }: Sockets): void {
  for (const socket of [listen, admin, probes]) socket?.close()
}

/** Node's own handle of a TCP socket. */
interface Handle {
  readonly fd: number
  getsockname(out: object): number
  close(): void
}

interface Bound {
  readonly address: string
  readonly port: number
  readonly family: string
}

/**
 * What `net` binds with. `listen` would begin to accept, and cluster's own sockets close when the last worker is gone, with the connections that
 * wait in them.
 */
type Bind = (
  host: string | null,
  port: number | null,
  family: 4 | 6 | null,
  fd: number | undefined,
  flags: number,
) => Handle | number
const bind = (net as unknown as { readonly _createServerHandle: Bind })._createServerHandle

/** Binds; rejects with one sentence an operator can act on. */
export async function openListeningSocket({ host, port }: ListenAddress): Promise<ListeningSocket> {
  const fail = (code: string): Error =>
    new Error(listenFault(host, port, Object.assign(new Error(code), { code })))
  const { address, family } =
    isIP(host) === 0
      ? await lookup(host).catch((error: unknown) => {
          throw fail((error as NodeJS.ErrnoException).code ?? 'ENOTFOUND')
        })
      : { address: host, family: isIP(host) }
  return socketOf(bind(address, port, family === 6 ? 6 : 4, undefined, 0), fail)
}

/** A socket that somebody else has bound, by its descriptor here; throws one sentence where it is none. */
export function inheritedSocket(fd: number): ListeningSocket {
  return socketOf(
    bind(null, null, null, fd, 0),
    code => new Error(`cannot listen on the socket that was passed on as descriptor ${fd}: ${code}`),
  )
}

function socketOf(handle: Handle | number, fail: (code: string) => Error): ListeningSocket {
  if (typeof handle === 'number') throw fail(getSystemErrorName(handle))
  const bound = {} as Bound
  // That a port is taken is not said by the binding itself.
  const fault = handle.getsockname(bound)
  if (fault !== 0) {
    handle.close()
    throw fail(getSystemErrorName(fault))
  }
  const { address, port, family } = bound
  return {
    fd: handle.fd,
    address: family === 'IPv6' ? `[${address}]:${port}` : `${address}:${port}`,
    accept: connection => {
      const server = createServer({ pauseOnConnect: true, noDelay: true }, connection)
      server.listen(handle)
    },
    close: () => {
      handle.close()
    },
  }
}
