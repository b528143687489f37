/** Finds a route that carries a subscription. */
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Reply } from '../../jsonrpc/message.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Family, Route } from '../../snapshot/types.ts'
import type { Heights } from '../../families/gap.ts'
import { judgeError } from '../../routes/transport/verdict.ts'
import { ANY, FloodGauge, PER_BLOCK } from '../socket/flood.ts'
import type { Notification } from '../socket/frame.ts'
import type { Attempts } from '../../ports/subscriptions.ts'
import type { AttemptKind } from '../../ports/tracing.ts'
import { familyOf } from '../../families/families.ts'
import type { UpstreamSocket } from '../socket/upstream-socket.ts'
import type { UpstreamSockets } from '../socket/upstream-sockets.ts'

/** A subscription as it stands at one upstream. */
export interface Carrier {
  readonly socket: UpstreamSocket
  readonly id: Raw
  readonly listener: (notification: Notification) => void
  /** Whether its messages show how far the socket has come. */
  readonly showsHeads: boolean
}

/** What is subscribed to, and where. */
export interface Sought {
  readonly method: string
  readonly params: Raw
  readonly family: Family
  readonly unsubscribe: string
  readonly sockets: Pick<UpstreamSockets, 'get' | 'release'>
  /** The names that are set apart if an upstream closes a socket for its subscribe call, which has the first of them. */
  readonly names: readonly [string, ...string[]]
  /** The name of the socket of its own that carries it; null for the route's common one. */
  readonly own: () => string | null
  /** Which subscribe call in flight is blamed for a closed socket. */
  readonly blamed: 'any' | 'oldest'
  /** Whether an upstream has accepted it before. */
  readonly isKnown: boolean
  /** Sets a name apart: what has it goes over sockets of its own. */
  readonly setApart: (name: string) => void
  readonly heights: Heights
  /** The routes to try now, best first. */
  readonly routes: () => readonly Route[]
}

type NodeError = Reply & { readonly kind: 'error' }

/**
 * Subscribes on the first route that takes it. A node's error is judged as that of a call: some are the answer, after others another
 * route is tried, and the client gets a node's own words where those of a call would be passed on. Routes of `avoid` come last. `isOver` when nobody wants it any more; `trace` records each try.
 */
export async function findCarrier(
  sought: Sought,
  hear: (result: Raw) => void,
  avoid: ReadonlySet<string>,
  isOver: () => boolean,
  trace?: Attempts,
): Promise<Carrier | NodeError | Refusal> {
  const { method, params, family, unsubscribe, sockets, routes, names, isKnown } = sought
  const [name] = names
  const showsHeads = familyOf({ family }).subscriptions.heightReader(method, params) !== null
  let refusal = refuse('no_route')
  let said: NodeError | null = null
  let kind: AttemptKind = 'first'
  const inOrder = [...routes()].sort((a, b) => Number(avoid.has(a.id)) - Number(avoid.has(b.id)))
  for (const route of inOrder) {
    if (isOver()) break
    const attempt = trace?.attempt(route.id, kind)
    kind = 'retry'
    const socket = await sockets.get(route, sought.own()).catch(() => null)
    if (socket === null) {
      attempt?.ended('unreachable')
      continue
    }
    const listener = listenerOn(socket, sought, hear)
    const outcome = await socket.subscribe({ method, params, unsubscribe, name, isKnown }, listener)
    // The upstream may close a socket for the params of one call: the next time that cuts only a socket of its own.
    if (socket.isClosedFor(name, sought.blamed)) for (const each of names) sought.setApart(each)
    if (outcome !== null && 'id' in outcome && outcome.complete) {
      attempt?.ended('ok')
      if (showsHeads) socket.progress.enter()
      return { socket, id: outcome.id, listener, showsHeads }
    }
    if (outcome !== null && 'id' in outcome) await socket.leave(outcome.id, listener, unsubscribe)
    sockets.release(socket)
    refusal = refuse('upstream_error')
    if (outcome === null || 'id' in outcome || outcome.kind !== 'error') {
      attempt?.ended('not_begun')
      continue
    }
    const failure = judgeError(outcome, { family, method, params, isRange: false, rows: route.errors })
    attempt?.ended(failure?.why ?? 'error')
    if (failure === null) return outcome
    refusal = failure.refusal
    if (failure.passOn) said = outcome
  }
  return said ?? refusal
}

/** Passes on what one socket sends of the subscription. Its rate is its own: another route does not inherit it. */
function listenerOn(
  socket: UpstreamSocket,
  { method, params, family, heights }: Sought,
  hear: (result: Raw) => void,
): Carrier['listener'] {
  const words = familyOf({ family }).subscriptions
  const rate = new FloodGauge(words.isPerBlock(method, params) ? PER_BLOCK : ANY)
  const heightIn = words.heightReader(method, params)
  return ({ result }) => {
    if (rate.add(result.length, performance.now())) {
      socket.drop('a subscription gets more messages than any chain has')
      return
    }
    const height = heightIn?.(result) ?? null
    if (height !== null && heights.isPlausible(height)) socket.progress.show(height)
    hear(result)
  }
}
