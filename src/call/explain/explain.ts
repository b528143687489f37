/** Answers "why was this call refused, or sent there?": the stages of a call's decision, without making the call. */
import { familyOf } from '../../families/families.ts'
import { isNormalPath } from '../../net/http-path.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { findMethod } from '../../snapshot/find-method.ts'
import type { MethodRow, Network, Rule, Snapshot } from '../../snapshot/types.ts'
import { keepersOf, needsArchive, decide } from '../decide.ts'
import type { Decided, FirstKept } from '../decide.ts'
import type { BlockSpan } from '../../families/block-span.ts'
import { explainCache } from './cached.ts'
import type { ExplainedCache } from './cached.ts'
import { detailsOf } from './details.ts'
import { explainSharing } from './shared.ts'
import type { Details } from './details.ts'
import type { Question } from './question.ts'
import type { LiveView } from './turns.ts'
import { needOf } from '../execute.ts'
import { spreadOf } from '../node/broadcast.ts'

/** One route and whether the call could go there. */
export interface ExplainedRoute {
  readonly id: string
  readonly able: boolean
  readonly why?: string
}

/** The decision for a call (design, "Command line"). */
export interface Explanation {
  readonly network: string
  readonly method: string
  readonly plan: string
  readonly live: boolean
  readonly outcome: 'forward' | 'answer' | 'refuse'
  readonly reason?: string
  readonly message?: string
  readonly rule: Pick<Rule, 'match' | 'cost' | 'tier' | 'needs'> | null
  readonly routes: readonly ExplainedRoute[]
  /** To how many upstreams at once it goes; absent where to one. */
  readonly broadcast?: number
  /** Absent where no cache is configured, and from what is never kept. */
  readonly cache?: ExplainedCache
  /** Whether equal calls in flight are sent as one; absent where nothing is sent to a node. */
  readonly share?: string
}

/** The same with what a person wants to know besides. */
export interface Explained {
  readonly explanation: Explanation
  readonly details: Details
}

/** Decides as the pipeline would, up to the choice among the able routes. */
export function explain(asked: Question, snapshot: Snapshot, live: LiveView | null): Explained {
  const question =
    familyOf(asked.network).wire === 'http' ? { ...asked, method: withoutQuery(asked.method) } : asked
  const { network, method, plan, head } = question
  const row = question.management === null ? findMethod(network, method) : null
  const firstKept = (id: string): number | null => live?.firstKept(id) ?? null
  const { refusal: decided, beyond, span, call } = verdictOf(question, row, snapshot, firstKept)
  const archive = row !== null && needsArchive(row, network, span, head)
  const need = row === null ? null : needOf(row.rule, span, null)
  const keepers = row === null ? [] : archive ? row.archive : keepersOf(row, span, firstKept)
  const whyDown = (id: string): string | null =>
    live === null ? null : (live.whyDown(id) ?? (row?.rule.subscribe == null ? null : live.whyNoSocket(id)))
  const whyLacking = (id: string): string | null =>
    live?.lackedBy(id, method) === 'everybody' ? LACKING : null
  const liveWhy = (id: string): string | null => whyDown(id) ?? live?.whyNot(id, need!.tip) ?? whyLacking(id)
  const routes = row === null ? [] : explainRoutes(row, network, keepers, liveWhy)
  const spread = row === null ? 1 : spreadOf(network, row.rule)
  const isAnswered = question.management !== null || row?.rule.answer != null
  const isLocal = isAnswered || row?.rule.unsubscribes != null
  const forwarded = call === null || isLocal || call.row.rule.subscribe !== null ? null : call
  const hasParams = question.params !== null
  const cache =
    forwarded === null ? null : explainCache(forwarded, hasParams, network, snapshot, live?.cache ?? null)
  const isShareable = forwarded !== null && familyOf(network).wire === 'json-rpc'
  const share = isShareable ? explainSharing(forwarded, hasParams, head, network) : null
  const isKept = cache !== null && cache.keptFrom !== null
  const isDown =
    live !== null && !isLocal && !isKept && decided === null && keepers.every(id => whyDown(id) !== null)
  const refusal = isDown ? refuse('no_route', ALL_DOWN) : decided
  const explanation: Explanation = {
    network: network.slug,
    method,
    plan,
    live: live !== null,
    ...(refusal === null
      ? { outcome: isAnswered || isKept ? ('answer' as const) : ('forward' as const) }
      : { outcome: 'refuse' as const, reason: refusal.reason, message: refusal.message }),
    rule: row === null ? null : brief(row.rule),
    routes,
    ...(spread === 1 ? {} : { broadcast: spread }),
    ...(cache === null ? {} : { cache }),
    ...(share === null ? {} : { share }),
  }
  const decision = { row, archive, keepers, need, refusal, beyond, isDown, span }
  return { explanation, details: detailsOf(question, decision, snapshot, live) }
}

/** The last route is tried whatever its state, but nobody should count on it. */
const ALL_DOWN = 'Every route that could serve the call is down'

const LACKING = 'it answered within the last 10 minutes that it does not have the method'

function withoutQuery(method: string): string {
  return method.split('?', 1)[0] ?? method
}

/** What a call comes to before it is admitted, and what is known of the block it reads. */
interface Verdict {
  readonly refusal: Refusal | null
  /** Why no plan would be enough, where the plan stands in the way. */
  readonly beyond: Refusal | null
  readonly span: BlockSpan
  /** Null where it is refused. */
  readonly call: Decided | null
}

/** The line's own decision, behind the checks that other doors make before the line. */
function verdictOf(
  { network, method, plan, params, head, management }: Question,
  row: MethodRow | null,
  snapshot: Snapshot,
  firstKept: FirstKept,
): Verdict {
  if (management !== null)
    return {
      refusal: plan === 'public' && management === 'keys' ? refuse('invalid_key') : null,
      ...NOTHING_BEYOND,
    }
  const [, path] = familyOf(network).wire === 'http' ? method.split(' ', 2) : []
  if (path !== undefined && !isNormalPath(path))
    return { refusal: refuse('invalid_request', 'The path is not in its normal form'), ...NOTHING_BEYOND }
  const view = { maxDepth: snapshot.gateway.limits.depth, head, firstKept }
  const decideFor = (tiers: readonly string[]): Verdict => {
    const decided = decide({ method, params }, { network, plan: { tiers }, transport: 'ws' }, view)
    const { refusal, span } = decided
    return { ...NOTHING_BEYOND, refusal, span, call: decided.refusal === null ? decided : null }
  }
  const every = row === null ? [] : [row.rule.tier]
  const decided = decideFor(snapshot.plans[plan]?.tiers ?? every)
  if (decided.refusal?.reason !== 'plan_required') return decided
  // Whom the plan stands in the way still wants to know which block the call reads, and what else is in the way.
  const { refusal: beyond, span } = decideFor(every)
  return { ...decided, beyond, span }
}

const NOTHING_BEYOND = { beyond: null, span: null, call: null } as const

function brief({ match, cost, tier, needs }: Rule): Pick<Rule, 'match' | 'cost' | 'tier' | 'needs'> {
  return { match, cost, tier, needs }
}

function explainRoutes(
  row: MethodRow,
  network: Network,
  keepers: readonly string[],
  liveWhy: (id: string) => string | null,
): ExplainedRoute[] {
  const skipped = new Map(row.skipped.map(({ id, why }) => [id, why]))
  const enabled = network.routes.map(({ id }): ExplainedRoute => {
    const tooOld =
      keepers.includes(id) || !row.routes.includes(id)
        ? undefined
        : `the call reads ${row.rule.reads !== 'history' ? 'state' : row.rule.block?.kind === 'slot' ? 'slots' : 'blocks'} older than it keeps`
    const why = skipped.get(id) ?? tooOld ?? liveWhy(id) ?? undefined
    return why === undefined ? { id, able: true } : { id, able: false, why }
  })
  return [...enabled, ...network.disabled.map(id => ({ id, able: false, why: 'it is not enabled' }))]
}
