/** Notices when the subscriptions of a socket fall silent, or its route falls behind, while the network goes on. */
import type { Network } from '../../snapshot/types.ts'
import type { Upstreams } from '../../routes/upstreams.ts'
import type { UpstreamSocket } from '../socket/upstream-socket.ts'
import type { UpstreamSockets } from '../socket/upstream-sockets.ts'

/** Milliseconds between two looks, and for how long a socket has to be behind: until then it may be catching up. */
const EVERY = 1_000
const PATIENCE = 5_000

/** What is watched, and what it is held against. */
export interface StalledParts {
  readonly sockets: Pick<UpstreamSockets, 'opened' | 'trouble'>
  readonly upstreams: Pick<Upstreams, 'get' | 'whyNot' | 'isBehind' | 'certainHead'>
  readonly networkOf: (slug: string) => Network | undefined
}

/** Cuts sockets that are behind, so that their subscriptions go elsewhere and fill the gap. Heights decide, never time: chains may be slow. */
export class StalledWatch {
  readonly #parts: StalledParts
  readonly #timer: NodeJS.Timeout

  constructor(parts: StalledParts) {
    this.#parts = parts
    this.#timer = setInterval(() => {
      for (const socket of parts.sockets.opened()) this.#look(socket, performance.now())
    }, EVERY).unref()
  }

  close(): void {
    clearInterval(this.#timer)
  }

  #look(socket: UpstreamSocket, now: number): void {
    const { upstreams, networkOf } = this.#parts
    const { routeId, progress } = socket
    const network = networkOf(upstreams.get(routeId)?.network ?? '')
    const probed = upstreams.certainHead(routeId)
    if (network === undefined || probed === null) return
    const isBehind = upstreams.isBehind(network, progress.look(probed))
    if (progress.behindFor(isBehind, now) < PATIENCE) return
    // Where the route itself has come further, another socket to it may do; else there has to be another route.
    if (upstreams.isBehind(network, probed) && !this.#hasBetter(network, routeId, now)) return
    socket.drop('its subscriptions are behind the network')
  }

  #hasBetter(network: Network, than: string, now: number): boolean {
    const { upstreams, sockets } = this.#parts
    return network.routes.some(
      ({ id, ws }) =>
        id !== than &&
        ws !== null &&
        sockets.trouble(id) === 0 &&
        upstreams.whyNot(network, id, now, false) === null &&
        !upstreams.isBehind(network, upstreams.certainHead(id) ?? 0),
    )
  }
}
