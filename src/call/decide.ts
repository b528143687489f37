/**
 * The decision for a call: everything that follows from the configuration and the known heads, before money moves. The order of
 * the checks stands here alone: `run` acts on the decision, `explain` reports it.
 */
import { familyOf } from '../families/families.ts'
import type { Elements } from '../jsonrpc/elements.ts'
import { isRefusal, refuse } from '../refusal/refusal.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { MethodRow, Network, Plan } from '../snapshot/types.ts'
import type { BlockSpan } from '../families/block-span.ts'
import { checkParams } from './params.ts'
import type { CheckedParams } from './params.ts'
import { findMethod } from '../snapshot/find-method.ts'

/** A call that may be served: its row, what it reads and the routes able to serve it. */
export interface Decided {
  readonly refusal: null
  readonly row: MethodRow
  readonly method: string
  /** What goes upstream. */
  readonly params: Raw
  /** The first of them, where they are an array. */
  readonly elements: readonly Raw[]
  readonly span: BlockSpan
  /** Ids of the routes that may serve it. */
  readonly routes: readonly string[]
}

/** A call that is refused at no cost: no bucket, quota or journal was asked. */
export interface Denied {
  readonly refusal: Refusal
  /** Null for a method that no rule has. */
  readonly row: MethodRow | null
  /** Null where the check of the params was not reached. */
  readonly span: BlockSpan
}

/** What is called. */
export interface Asked {
  readonly method: string
  /** A valid JSON array or object; null asks about the method as such. */
  readonly params: Raw | null
  /** What they hold, where a scan has found it already. */
  readonly elements?: Elements
}

/** Who calls, as far as the decision depends on it. */
export interface Asker {
  readonly network: Network
  readonly plan: Pick<Plan, 'tiers'>
  readonly transport: 'http' | 'ws'
}

/** What is known of the network besides its configuration. */
export interface View {
  /** Most levels of nesting in a parameter that is decoded. */
  readonly maxDepth: number
  /** The best known block or slot. */
  readonly head: number | null
  readonly firstKept: FirstKept
}

/** Decides a call: method → tier → params → capability. */
export function decide(
  { method, params, elements }: Asked,
  { network, plan, transport }: Asker,
  view: View,
): Decided | Denied {
  const row = findRow(network, method, transport)
  if (isRefusal(row)) return { refusal: row, row: null, span: null }
  const tier = checkTier(row, plan)
  if (tier !== null) return { refusal: tier, row, span: null }
  const checked = params === null ? UNASKED : checkParams(row.rule, familyOf(network), params, view, elements)
  if (isRefusal(checked)) return { refusal: checked, row, span: null }
  const { span } = checked
  const routes = eligibleRoutes(row, needsArchive(row, network, span, view.head), span, view.firstKept)
  if (isRefusal(routes)) return { refusal: routes, row, span }
  return { refusal: null, row, method, params: checked.params, elements: checked.elements, span, routes }
}

const UNASKED: CheckedParams = { params: '[]', elements: [], span: null }

/** The row of a method that this transport can carry. */
export function findRow(network: Network, method: string, transport: 'http' | 'ws'): MethodRow | Refusal {
  const row = network.methods[method] ?? findMethod(network, method)
  if (row === null || row.unable?.reason === 'method_not_found') return unknownMethod(network, method)
  if (row.rule.match !== method && !familyOf(network).methodName.test(method))
    return unknownMethod(network, method)
  const overSocket = row.rule.subscribe !== null || row.rule.unsubscribes !== null
  if (overSocket && transport === 'http')
    return refuse('method_not_found', 'Subscriptions need a WebSocket connection to this endpoint')
  return row
}

/** Names that are repeated in a refusal: of any other a reply would hold as much as its client likes. */
const REPEATED = /^[A-Za-z0-9_.:-]{1,64}$/

/** Names the method, as the reply to one call of many does not show which it was. */
function unknownMethod(network: Network, method: string): Refusal {
  const name = REPEATED.test(method) ? ` ${method}` : ''
  return refuse('method_not_found', `The method${name} does not exist or is not available on ${network.name}`)
}

/** Whether the plan includes the row's tier. */
export function checkTier(row: MethodRow, plan: Pick<Plan, 'tiers'>): Refusal | null {
  const { tier } = row.rule
  if (plan.tiers.includes(tier)) return null
  return refuse(
    'plan_required',
    `This method is part of the tier "${tier}", which the plan does not include`,
    { tier },
  )
}

/** The oldest block or slot that a route keeps; null where that is unknown, or it keeps all. */
export type FirstKept = (route: string) => number | null

/**
 * Whether a call reads state older than a non-archive route keeps (spec, chain methods rule 2). Unknown ages, such as
 * a hash's, are not assumed to be old: the route answers that the state is missing.
 */
export function needsArchive(
  row: MethodRow,
  network: Network,
  span: BlockSpan,
  head: number | null,
): boolean {
  const { reads } = row.rule
  if (reads === 'none' || reads === 'history' || span === null) return false
  const { from } = span
  if (from.kind === 'tag') return from.tag === 'earliest'
  if (from.kind === 'hash' || head === null) return false
  const read = reads === 'replay' ? from.number - 1 : from.number
  return read < head - network.stateWindow
}

/** Ids of the routes that may serve the call, or why none can. */
export function eligibleRoutes(
  row: MethodRow,
  archive: boolean,
  span: BlockSpan,
  firstKept: FirstKept,
): readonly string[] | Refusal {
  if (row.unable !== null) return refuseUnable(row.unable)
  const routes = archive ? row.archive : keepersOf(row, span, firstKept)
  return routes.length > 0 ? routes : missing('archive')
}

/** Nodes keep the last part of a chain; what is older, some answer with null or an empty list instead of an error. */
export function keepersOf(row: MethodRow, span: BlockSpan, firstKept: FirstKept): readonly string[] {
  const oldest = row.rule.reads === 'history' ? oldestOf(span) : null
  return oldest === null ? row.routes : row.routes.filter(id => (firstKept(id) ?? 0) <= oldest)
}

function oldestOf(span: BlockSpan): number | null {
  if (span?.from.kind === 'number') return span.from.number
  return span?.from.kind === 'tag' && span.from.tag === 'earliest' ? 0 : null
}

function refuseUnable(unable: NonNullable<MethodRow['unable']>): Refusal {
  return unable.reason === 'capability_missing' ? missing(unable.capability) : refuse(unable.reason)
}

function missing(capability: string): Refusal {
  return refuse('capability_missing', `No route of this network has the capability "${capability}"`, {
    capability,
  })
}
