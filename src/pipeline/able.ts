/** Last stage of a call's decision: which routes can serve it, by capability and by how far back it reads. */
import { refuse } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import type { MethodRow, Network } from '../snapshot/types.ts'
import type { BlockSpan } from './block.ts'

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
  if (reads === 'none' || span === null) return false
  const { from } = span
  if (from.kind === 'tag') return from.tag === 'earliest'
  if (from.kind === 'hash' || head === null) return false
  const read = reads === 'replay' ? from.number - 1 : from.number
  return read < head - network.stateWindow
}

/** Ids of the routes that may serve the call, or why none can. */
export function ableRoutes(row: MethodRow, archive: boolean): readonly string[] | Refusal {
  if (row.unable !== null) return refuseUnable(row.unable)
  if (!archive) return row.routes
  return row.archive.length > 0 ? row.archive : missing('archive')
}

function refuseUnable(unable: NonNullable<MethodRow['unable']>): Refusal {
  return unable.reason === 'capability_missing' ? missing(unable.capability) : refuse(unable.reason)
}

function missing(capability: string): Refusal {
  return refuse('capability_missing', `No route of this network has the capability "${capability}"`, {
    capability,
  })
}
