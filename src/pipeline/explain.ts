/** Answers "why was this call refused, or sent there?": the stages of a call's decision, without making the call. */
import { isNormalPath } from '../config/http-path.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { findMethod } from '../snapshot/find-method.ts'
import type { MethodRow, Network, Rule, Snapshot } from '../snapshot/types.ts'
import { ableRoutes, needsArchive } from './able.ts'
import type { BlockSpan } from './block.ts'
import { detailsOf } from './explain-details.ts'
import type { Details } from './explain-details.ts'
import type { Question } from './explain-question.ts'
import type { LiveView } from './explain-turns.ts'
import { checkTier, findRow } from './find.ts'
import { needOf } from './need.ts'
import { checkParams } from './params.ts'

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
}

/** The same with what a person wants to know besides. */
export interface Explained {
  readonly explanation: Explanation
  readonly details: Details
}

/** Decides as the pipeline would, up to the choice among the able routes. */
export function explain(asked: Question, snapshot: Snapshot, live: LiveView | null): Explained {
  const question = asked.network.family === 'http' ? { ...asked, method: withoutQuery(asked.method) } : asked
  const { network, method, plan, head } = question
  const row = question.management === null ? findMethod(network, method) : null
  const verdict = decide(question, snapshot)
  const refusal = 'refusal' in verdict ? verdict.refusal : null
  const archive = row !== null && needsArchive(row, network, verdict.span, head)
  const need = row === null ? null : needOf(row.rule, verdict.span, null)
  const routes = row === null ? [] : explainRoutes(row, network, archive, id => live?.whyNot(id, need!.tip))
  const local = question.management !== null || row?.rule.answer != null
  const explanation: Explanation = {
    ...{ network: network.slug, method, plan, live: live !== null },
    ...(refusal === null
      ? { outcome: local ? ('answer' as const) : ('forward' as const) }
      : { outcome: 'refuse' as const, reason: refusal.reason, message: refusal.message }),
    rule: row === null ? null : brief(row.rule),
    routes,
  }
  const decision = { row, archive, need, refusal, span: verdict.span }
  return { explanation, details: detailsOf(question, decision, snapshot, live) }
}

function withoutQuery(method: string): string {
  return method.split('?', 1)[0] ?? method
}

/** The first stage that refuses, or what is known of the block it reads. */
function decide(
  question: Question,
  snapshot: Snapshot,
): { readonly span: BlockSpan; readonly refusal?: Refusal } {
  const { network, method, plan: planName, params, head, management } = question
  if (management !== null)
    return planName === 'public' && management === 'keys'
      ? { refusal: refuse('invalid_key'), span: null }
      : { span: null }
  const [, path] = network.family === 'http' ? method.split(' ', 2) : []
  if (path !== undefined && !isNormalPath(path))
    return { refusal: refuse('invalid_request', 'The path is not in its normal form'), span: null }
  const row = findRow(network, method, 'ws')
  if (isRefusal(row)) return { refusal: row, span: null }
  const maxDepth = snapshot.gateway.limits.depth
  const checked = params === null ? null : checkParams(row.rule, network.family, params, { maxDepth, head })
  const span = checked === null || isRefusal(checked) ? null : checked.span
  const plan = snapshot.plans[planName]
  const tier = plan === undefined ? null : checkTier(row, plan)
  if (tier !== null) return { refusal: tier, span }
  if (checked !== null && isRefusal(checked)) return { refusal: checked, span }
  const routes = ableRoutes(row, needsArchive(row, network, span, head))
  return isRefusal(routes) ? { refusal: routes, span } : { span }
}

function brief({ match, cost, tier, needs }: Rule): Pick<Rule, 'match' | 'cost' | 'tier' | 'needs'> {
  return { match, cost, tier, needs }
}

function explainRoutes(
  row: MethodRow,
  network: Network,
  archive: boolean,
  liveWhy: (id: string) => string | null | undefined,
): ExplainedRoute[] {
  const skipped = new Map(row.skipped.map(({ id, why }) => [id, why]))
  const enabled = network.routes.map(({ id }): ExplainedRoute => {
    const tooOld =
      archive && !row.archive.includes(id) ? 'the call reads state older than it keeps' : undefined
    const why = skipped.get(id) ?? tooOld ?? liveWhy(id) ?? undefined
    return why === undefined ? { id, able: true } : { id, able: false, why }
  })
  return [...enabled, ...network.disabled.map(id => ({ id, able: false, why: 'it is not enabled' }))]
}
