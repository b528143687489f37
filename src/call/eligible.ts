/** Last stage of a call's decision: which routes can serve it, by capability and by how far back it reads. */
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import type { MethodRow, Network } from '../snapshot/types.ts'
import type { BlockSpan } from '../families/evm/block.ts'

/** The oldest slot that a route keeps; null when it has not told, or keeps all. */
export type FirstSlot = (route: string) => number | null

/**
 * Whether a call reads state older than a non-archive route keeps (spec, chain methods rule 2). Unknown ages, such as
 * a hash's, are not called old: a route's missing-state answer tells then.
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
  firstSlot: FirstSlot,
): readonly string[] | Refusal {
  if (row.unable !== null) return refuseUnable(row.unable)
  const routes = archive ? row.archive : keepersOf(row, span, firstSlot)
  return routes.length > 0 ? routes : missing('archive')
}

/** Nodes keep the last part of a ledger; what is older, some answer wrongly instead of with an error. */
export function keepersOf(row: MethodRow, span: BlockSpan, firstSlot: FirstSlot): readonly string[] {
  if (row.rule.reads !== 'history' || span?.from.kind !== 'number') return row.routes
  const { number } = span.from
  return row.routes.filter(id => row.archive.includes(id) || (firstSlot(id) ?? 0) <= number)
}

function refuseUnable(unable: NonNullable<MethodRow['unable']>): Refusal {
  return unable.reason === 'capability_missing' ? missing(unable.capability) : refuse(unable.reason)
}

function missing(capability: string): Refusal {
  return refuse('capability_missing', `No route of this network has the capability "${capability}"`, {
    capability,
  })
}
