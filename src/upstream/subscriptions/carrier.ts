/** Finds a route that carries a subscription. */
import { refuse } from '../../jsonrpc/refusal.ts'
import type { Refusal } from '../../jsonrpc/refusal.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Reply } from '../../jsonrpc/reply.ts'
import type { Family, Route } from '../../snapshot/types.ts'
import { classify } from '../node-errors/classify.ts'
import { FloodGauge } from './flood.ts'
import type { Notification } from './frame.ts'
import { rateOf } from './kind.ts'
import type { UpstreamSocket } from './upstream-socket.ts'
import type { UpstreamSockets } from './upstream-sockets.ts'

/** A subscription as it stands at one upstream. */
export interface Carrier {
  readonly socket: UpstreamSocket
  readonly id: Raw
  readonly listener: (notification: Notification) => void
}

/** What is subscribed to, and where. */
export interface Sought {
  readonly method: string
  readonly params: Raw
  readonly family: Family
  readonly unsubscribe: string
  readonly sockets: Pick<UpstreamSockets, 'get' | 'release'>
  /** The routes to try now, best first. */
  readonly routes: () => readonly Route[]
}

type Failure = (Reply & { kind: 'error' }) | Refusal

/** Subscribes on the first route that takes it. A node's error about the call itself is final. `isOver` when nobody wants it any more. */
export async function findCarrier(
  sought: Sought,
  hear: (result: Raw) => void,
  isOver: () => boolean,
): Promise<Carrier | Failure> {
  const { method, params, family, unsubscribe, sockets, routes } = sought
  let last: Failure = refuse('no_route')
  for (const route of routes()) {
    if (isOver()) break
    const socket = await sockets.get(route).catch(() => null)
    if (socket === null) continue
    const listener = listenerOn(socket, sought, hear)
    const reply = await socket.subscribe({ method, params, unsubscribe }, listener)
    if (reply !== null && !('kind' in reply) && reply.complete) return { socket, id: reply.id, listener }
    if (reply !== null && 'id' in reply) await socket.leave(reply.id, listener, unsubscribe)
    sockets.release(socket)
    const error = reply !== null && 'kind' in reply && reply.kind === 'error' ? reply : null
    // What another route may not have is no last word.
    const call = { family, method, params, isRange: false, rows: route.errors }
    if (error !== null && classify(error, call) === 'answer') return error
    last = error ?? refuse('upstream_error')
  }
  return last
}

/** Passes on what one socket sends of the subscription. Its rate is its own: another route does not inherit it. */
function listenerOn(
  socket: UpstreamSocket,
  { method, params }: Sought,
  hear: (result: Raw) => void,
): Carrier['listener'] {
  const rate = new FloodGauge(rateOf(method, params))
  return ({ result }) => {
    if (rate.add(result.length, performance.now()))
      socket.drop('a subscription gets more messages than any chain has')
    else hear(result)
  }
}
