/** Answers a call that was let in: here, by the socket's session, or by a node, to the next route while it may be repeated. */
import { familyOf } from '../families/families.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { refuse } from '../refusal/refusal.ts'
import { refused } from './reply/answer.ts'
import type { Answer } from './reply/answer.ts'
import type { Caller } from './caller.ts'
import type { Context, Live } from './context.ts'
import type { Decided } from './decide.ts'
import type { ReplyMode } from './node/request.ts'
import { keep, recall } from './cache/recall.ts'
import type { Keepable } from './cache/recall.ts'
import { healthOf } from './health.ts'
import { holderOf, readerOf } from './caller.ts'
import { localResult } from './local.ts'
import { findFilter, keepFilter } from './node/sticky.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Trail } from './node/attempts.ts'
import { fetchedOf, forward } from './node/forward.ts'
import type { Ending } from './node/forward.ts'
import { coalesce } from './share/coalesce.ts'
import type { Rule, Network } from '../snapshot/types.ts'
import type { Need } from '../routes/pick.ts'
import type { BlockSpan } from '../families/block-span.ts'
import type { RouteNeed } from '../families/route-need.ts'
import type { HeightKind } from '../families/height-kind.ts'
import { noteTaken, takersOf } from './node/takers.ts'

/** What the call is answered with. */
export function execute(
  call: Decided,
  caller: Caller,
  mode: ReplyMode,
  context: Context,
  trail: Trail,
): MaybePromise<Answer> {
  const { rule } = call.row
  const { session, network } = caller
  if (rule.answer === 'health') return healthOf(network, context.live)
  if (rule.answer !== null) return { kind: 'result', result: localResult(rule.answer, network) }
  if (session !== null && rule.unsubscribes !== null) return session.unsubscribe(call.params, caller)
  if (session !== null && rule.subscribe !== null) {
    const { method, params } = call
    return session.subscribe(call.row, { method, params, trace: trail.trace ?? undefined }, caller)
  }
  if (network.cache === null || rule.cache.length === 0) return askNode(call, caller, mode, context, trail)
  const { cached } = mode
  const wants = wantsOf(call, caller, context)
  const floor = (): number | null => floorOf(caller, wants, context)
  const { status, kept, keepable } = recall(call, caller, { wants, floor }, mode.maxBytes, context)
  trail.cache = status
  if (caller.freshness !== 'no-store') cached?.(status === 'hit' ? 'hit' : 'miss')
  if (kept === null) return askNode(call, caller, mode, context, trail, wants, keepable)
  const { result, bounds } = kept
  // What a reader was shown of the tip it is not shown less of later, wherever it came from.
  if (bounds?.tip != null)
    remember({ network, call, wants, reader: readerOf(caller), route: null, result }, context.live)
  return { kind: 'result', result }
}

/** What a call wants of a route besides being able. */
function wantsOf(call: Decided, { network }: Caller, { live: { blockhashes } }: Context): RouteNeed | null {
  return familyOf(network).wants(call, network.slug, blockhashes)
}

/** The newest block that the reader was shown, on the call's scale. */
function floorOf(caller: Caller, wants: RouteNeed | null, { live: { floors } }: Context): number | null {
  return floors.of(readerOf(caller), caller.network.slug, wants?.scale)
}

async function askNode(
  call: Decided,
  caller: Caller,
  mode: ReplyMode,
  context: Context,
  trail: Trail,
  wants = wantsOf(call, caller, context),
  keepable: Keepable | null = null,
): Promise<Answer> {
  // A reply that could not be held would cost a connection to the node, which ends amid it.
  if (mode.holder?.isSpent === true) return refused(refuse('overloaded'))
  const { row, method, elements, span } = call
  const { network } = caller
  // A reply that may stream is all that its message gets.
  if (mode.stream && row.rule.retry === 'safe') context.endsWhenDenied = true
  const { sticky } = row.rule
  const found = sticky === 'use' || sticky === 'end' ? findFilter(call, caller, context) : call
  if ('kind' in found) return found
  const reader = readerOf(caller)
  const { params, routes } = found
  const { takers, prefer } = takersOf(call, routes, network.slug, reader, context.live)
  const own = needOf(row.rule, span, floorOf(caller, wants, context), wants)
  const need = prefer.length === 0 ? own : { ...own, prefer }
  const holder = holderOf(caller)
  const compacted = keepable === null ? null : keepable.compacted
  const { freshness } = caller
  // prettier-ignore
  const wish = { call, network, reader, wants, freshness, need, caller: holder, compacted, mode, trail, departure: context.departure }
  const { answer, route, tried } = await coalesce<Ending>(
    wish,
    {
      send: (flight, until) => {
        const departure = flight === null ? context.departure : () => flight.departure()
        // prettier-ignore
        const request = { network, row, method, params, elements, span, routes, need, takers, caller: holder, reader, departure, flight, until, trace: trail.trace, traced: caller }
        return forward(request, mode, context)
      },
      conclude: ended => fetchedOf(ended, context),
    },
    context.live,
  )
  trail.route = tried
  if (answer.kind === 'result')
    remember({ network, call, wants, reader, route, result: answer.result }, context.live)
  if (route !== null && (answer.kind === 'result' || answer.kind === 'error'))
    noteTaken({ network, row, elements, caller: holder, reader }, route, answer, context.live.sent)
  if (keepable !== null && answer.kind === 'result' && route !== null && !trail.shared)
    keep(keepable, answer.result, route, context)
  return sticky === 'create' ? keepFilter(answer, route, span, caller, context) : answer
}

/**
 * The need of a call; `floor` is the newest block that its endpoint was shown on the call's scale, `slots` what a Solana call
 * says of its own.
 */
export function needOf(
  rule: Rule,
  span: BlockSpan,
  floor: number | null,
  slots: RouteNeed | null = null,
): Need {
  const to = span?.to ?? null
  const mayProbe = rule.retry === 'safe'
  // Without a block of its own a call is about the present: prices, the pool, sending.
  const tip = to === null || (to.kind === 'tag' && to.tag !== 'earliest')
  if (slots !== null) {
    const { scale, prefer } = slots
    const own = to?.kind === 'number' ? to.number : null
    return { tip, atLeast: highest(own, slots.slot, tip ? floor : null), mayProbe, scale, prefer }
  }
  if (to?.kind === 'number') return { tip: false, atLeast: to.number, mayProbe }
  return { tip, atLeast: tip ? floor : null, mayProbe }
}

function highest(...numbers: readonly (number | null)[]): number | null {
  const known = numbers.filter(number => number !== null)
  return known.length === 0 ? null : Math.max(...known)
}

/** An answer, and whose it is. */
export interface Shown {
  readonly network: Network
  readonly call: Decided
  readonly wants: RouteNeed | null
  /** Whose floors it raises. */
  readonly reader: string
  /** The route that answered. */
  readonly route: string | null
  readonly result: Raw
}

/** Takes note of an answer. */
export function remember(
  shown: Shown,
  live: Pick<Live, 'floors' | 'upstreams' | 'blockhashes' | 'clock'>,
): void {
  const { network, call, wants, route, result } = shown
  const { heights, blockhash } = familyOf(network).shown(call, wants, result)
  for (const [scale, number] of heights) note(shown, scale, number, live)
  if (blockhash === null || route === null || wants?.commitment == null) return
  const slot = heights[0]?.[1] ?? null
  live.blockhashes.add(network.slug, blockhash, { route, slot, commitment: wants.commitment })
}

/** Takes note of a height that a reader was shown, and of the route that it came over. */
export function note(
  { network, reader, route }: Pick<Shown, 'network' | 'reader' | 'route'>,
  scale: HeightKind,
  number: number,
  { floors, upstreams, clock }: Pick<Live, 'floors' | 'upstreams' | 'clock'>,
): void {
  // Every route that may serve the newest block has passed what is so far behind: an indexer reads old blocks all day.
  if (scale === 'head' && upstreams.isBehind(network, number)) return
  if (upstreams.learnHead(network, route, number, clock.monotonic(), scale))
    floors.show(reader, network.slug, number, scale, route)
}
