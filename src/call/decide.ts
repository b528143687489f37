/**
 * The decision for a call: everything that follows from the configuration and the known heads, before money moves. The order of
 * the checks stands here alone: `run` acts on the decision, `explain` reports it.
 */
import { familyOf } from '../families/families.ts'
import type { Elements } from '../jsonrpc/elements.ts'
import { isRefusal } from '../refusal/refusal.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { MethodRow, Network, Plan } from '../snapshot/types.ts'
import { eligibleRoutes, needsArchive } from './eligible.ts'
import type { FirstSlot } from './eligible.ts'
import type { BlockSpan } from '../families/evm/block.ts'
import { checkTier, findRow } from './find.ts'
import { checkParams } from './params.ts'
import type { CheckedParams } from './params.ts'

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
  readonly firstSlot: FirstSlot
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
  const routes = eligibleRoutes(row, needsArchive(row, network, span, view.head), span, view.firstSlot)
  if (isRefusal(routes)) return { refusal: routes, row, span }
  return { refusal: null, row, method, params: checked.params, elements: checked.elements, span, routes }
}

const UNASKED: CheckedParams = { params: '[]', elements: [], span: null }
