/** Finds a kept answer to a call, and keeps the one that a route gives. */
import type { AnswerTip, KeptAnswer } from '../../ports/answer-cache.ts'
import type { RouteNeed } from '../../families/route-need.ts'
import type { HeightKind } from '../../families/height-kind.ts'
import { compact } from '../../jsonrpc/compact.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { LiveRoute } from '../../routes/live-route.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Caller } from '../caller.ts'
import type { Context, Live } from '../context.ts'
import type { Decided } from '../decide.ts'
import { keyOf } from './key.ts'
import { keepingOf } from './plan.ts'
import type { Keeping } from './plan.ts'
import { showsAsked, shownNumber } from './shown.ts'

/** Milliseconds for which an answer that depends on the params alone is kept: rent and schedules change with a cluster's features. */
const FIXED_FOR = 3_600_000

/** Bytes of the params of a call whose answer is cached. */
const MAX_PARAMS = 64 * 1024

/** Bytes of a node's reply around its result, at most about. */
export const ENVELOPE = 256

/** A call whose answer may be kept. */
export interface Keepable {
  readonly call: Decided
  readonly network: Network
  readonly keeping: Keeping
  readonly key: string
  /** Its params without white space. */
  readonly compacted: Raw
  /** Of an answer about a block that moves. */
  readonly tip: AskedTip | null
}

/** How far things were when the call began. */
interface AskedTip {
  readonly block: number
  /** What each route was known to have come to. */
  readonly heights: ReadonlyMap<string, number>
}

/** What the cache makes of a call. */
export interface Recalled {
  /** `bypass` where it was not looked at, or nothing of this call is ever kept. */
  readonly status: 'hit' | 'miss' | 'bypass'
  readonly kept: KeptAnswer | null
  /** Null where the answer is not to be kept. */
  readonly keepable: Keepable | null
}

const BYPASS: Recalled = { status: 'bypass', kept: null, keepable: null }

/**
 * Asks the cache for the answer to a call. `floor` gives the newest block that its reader was shown on the call's scale. A call whose message came
 * before a purge finds and keeps nothing: what is kept now may be kept by another meaning of its network or row.
 */
export function recall(
  call: Decided,
  { network, freshness }: Pick<Caller, 'network' | 'freshness'>,
  { wants, floor }: { readonly wants: RouteNeed | null; readonly floor: () => number | null },
  maxBytes: number | null,
  {
    snapshot,
    purges,
    live,
  }: Pick<Context, 'snapshot' | 'purges'> & {
    readonly live: Pick<Live, 'answers' | 'heads' | 'upstreams' | 'clock'>
  },
): Recalled {
  const { cache } = snapshot.gateway
  if (cache === null || freshness === 'no-store' || call.params.length > Math.min(cache.entry, MAX_PARAMS))
    return BYPASS
  if (purges !== live.answers.purges) return BYPASS
  const keeping = keepingOf(call, wants, network)
  if (keeping === null) return BYPASS
  const tip = keeping.kind === 'tip' ? askedTip(call, keeping, wants?.scale ?? 'head', network, live) : null
  if (keeping.kind === 'tip' && tip === null) return BYPASS
  const compacted = compact(call.params)
  const key = keyOf(network.slug, call.method, compacted)
  const keepable = { call, network, keeping, key, compacted, tip }
  if (freshness === 'no-cache') return { status: 'bypass', kept: null, keepable }
  const kept = live.answers.find(key)
  // A reply with no room for it is refused as that of a node is.
  const fits = kept !== null && (maxBytes === null || kept.result.length + ENVELOPE <= maxBytes)
  return fits && holds(kept, tip, floor, live.clock.monotonic())
    ? { status: 'hit', kept, keepable: null }
    : { status: 'miss', kept: null, keepable }
}

/** Whether a kept answer is still one. */
function holds(
  { bounds }: KeptAnswer,
  tip: AskedTip | null,
  floor: () => number | null,
  now: number,
): boolean {
  if (bounds === null) return true
  if (now >= bounds.until) return false
  if (bounds.tip === null) return true
  return tip?.block === bounds.tip.block && (floor() ?? -1) <= bounds.tip.height
}

function askedTip(
  { routes }: Decided,
  { of }: Keeping & { readonly kind: 'tip' },
  scale: HeightKind,
  { slug }: Network,
  { heads, upstreams }: Pick<Live, 'heads' | 'upstreams'>,
): AskedTip | null {
  const block = of === 'head' ? heads.best(slug) : heads.finality.of(slug)
  if (block === null) return null
  const heights = new Map<string, number>()
  for (const id of routes) {
    const route = upstreams.get(id)
    const height = scale === 'head' ? route?.head : route?.slots.at(scale)
    if (height != null) heights.set(id, height)
  }
  return { block, heights }
}

/** Keeps the result that a route gave, if it holds. */
export function keep(keepable: Keepable, result: Raw, id: string, { snapshot, purges, live }: Context): void {
  const { call, network, key } = keepable
  const { answers, upstreams, observer } = live
  const route = upstreams.get(id)
  const most = snapshot.gateway.cache?.entry ?? 0
  // A purge while the call was under way is one of its answer too.
  if (route === undefined || result === 'null' || result.length > most || purges !== answers.purges) return
  const bounds = boundsOf(keepable, result, route, live)
  if (bounds === undefined) return
  const [{ slug }, method] = [network, call.row.rule.match]
  const isKept = bounds !== 'another block'
  if (isKept) answers.keep(key, { result, origin: { network: slug, method, route: id }, bounds })
  observer.cached({ network: slug, method, route: id, event: isKept ? 'kept' : 'mismatch' })
}

/** What bounds the answer; undefined where it does not hold. */
function boundsOf(
  { keeping, network, tip, call }: Keepable,
  result: Raw,
  route: LiveRoute,
  { heads, clock }: Live,
): KeptAnswer['bounds'] | 'another block' | undefined {
  const { finality } = heads
  const { shows } = call.row.rule
  if (keeping.kind === 'fixed') return { until: clock.monotonic() + FIXED_FOR, tip: null }
  if (keeping.kind === 'tip') {
    const block = keeping.of === 'head' ? heads.best(network.slug) : finality.of(network.slug)
    const height = tip?.heights.get(route.id)
    if (height === undefined || block !== tip?.block) return undefined
    const bound: AnswerTip = { block, height }
    return { until: clock.monotonic() + (network.cache?.tip ?? 0), tip: bound }
  }
  if (keeping.blocks === null) {
    const number = shownNumber(result, shows!)
    return number !== null && finality.hasFinal(network, route, number) ? null : undefined
  }
  if (!finality.hasFinal(network, route, keeping.blocks.to)) return undefined
  return showsAsked(result, shows, keeping.blocks) ? null : 'another block'
}
