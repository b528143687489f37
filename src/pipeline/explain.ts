/** Answers "why was this call refused, or sent there?": the stages of a call's decision, without making the call. */
import { isNormalPath } from '../config/http-path.ts'
import { isRefusal } from '../jsonrpc/is-refusal.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import { findMethod } from '../snapshot/find-method.ts'
import type { MethodRow, Network, Rule, Snapshot } from '../snapshot/types.ts'
import { ableRoutes, needsArchive } from './able.ts'
import { checkTier, findRow } from './find.ts'
import { checkParams } from './params.ts'

/** What is asked. */
export interface Question {
  readonly network: Network
  readonly method: string
  readonly plan: string
  /** A valid JSON array or object; null asks about the method as such. */
  readonly params: Raw | null
  readonly head: number | null
}

/** What is known of a route while the gateway runs: why calls keep away from it now, or null. */
export type LiveWhy = (routeId: string) => string | null

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

/** Decides as the pipeline would, up to the choice among the able routes. */
export function explain(question: Question, snapshot: Snapshot, liveWhy: LiveWhy | null): Explanation {
  const { network, plan } = question
  const method = network.family === 'http' ? withoutQuery(question.method) : question.method
  const row = findMethod(network, method)
  const archive = row === null ? false : readsArchive(question, row, snapshot)
  const verdict = decide({ ...question, method }, archive, snapshot)
  return {
    ...{ network: network.slug, method, plan, live: liveWhy !== null },
    ...(isRefusal(verdict)
      ? { outcome: 'refuse' as const, reason: verdict.reason, message: verdict.message }
      : { outcome: row?.rule.answer == null ? ('forward' as const) : ('answer' as const) }),
    rule: row === null ? null : brief(row.rule),
    routes: row === null ? [] : explainRoutes(row, network, archive, liveWhy),
  }
}

function withoutQuery(method: string): string {
  return method.split('?', 1)[0] ?? method
}

function readsArchive({ network, params, head }: Question, row: MethodRow, snapshot: Snapshot): boolean {
  const maxDepth = snapshot.gateway.limits.depth
  const checked = params === null ? null : checkParams(row.rule, network.family, params, { maxDepth, head })
  return checked !== null && !isRefusal(checked) && needsArchive(row, network, checked.span, head)
}

/** The first stage that refuses, or the able routes. */
function decide(
  { network, method, plan: planName, params, head }: Question,
  archive: boolean,
  snapshot: Snapshot,
): Refusal | readonly string[] {
  const [, path] = network.family === 'http' ? method.split(' ', 2) : []
  if (path !== undefined && !isNormalPath(path))
    return refuse('invalid_request', 'The path is not in its normal form')
  const row = findRow(network, method, 'ws')
  if (isRefusal(row)) return row
  const plan = snapshot.plans[planName]
  const tier = plan === undefined ? null : checkTier(row, plan)
  if (tier !== null) return tier
  const maxDepth = snapshot.gateway.limits.depth
  const checked = params === null ? null : checkParams(row.rule, network.family, params, { maxDepth, head })
  if (checked !== null && isRefusal(checked)) return checked
  return ableRoutes(row, archive)
}

function brief({ match, cost, tier, needs }: Rule): Pick<Rule, 'match' | 'cost' | 'tier' | 'needs'> {
  return { match, cost, tier, needs }
}

function explainRoutes(
  row: MethodRow,
  network: Network,
  archive: boolean,
  liveWhy: LiveWhy | null,
): ExplainedRoute[] {
  const skipped = new Map(row.skipped.map(({ id, why }) => [id, why]))
  const enabled = network.routes.map(({ id }): ExplainedRoute => {
    const tooOld =
      archive && !row.archive.includes(id) ? 'the call reads state older than it keeps' : undefined
    const why = skipped.get(id) ?? tooOld ?? liveWhy?.(id) ?? undefined
    return why === undefined ? { id, able: true } : { id, able: false, why }
  })
  return [...enabled, ...network.disabled.map(id => ({ id, able: false, why: 'it is not enabled' }))]
}
