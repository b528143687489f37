/** Filter calls: the client's own id, and the route whose node holds the filter. */
import { rawJson } from '../../jsonrpc/raw.ts'
import { skipSpace } from '../../jsonrpc/skip.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Answer, WholeAnswer } from '../reply/answer.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { Decided } from '../decide.ts'
import { readerOf } from '../caller.ts'

/** Milliseconds that a filter's route may be out: clients make a new one when they hear that it is not found. */
const FORGOTTEN_AFTER = 10_000

/** A filter call that can be sent: to this route, with these params. */
export interface StickyCall {
  readonly routes: readonly string[]
  readonly params: Raw
}

/** Where a call that uses a filter goes, or what is said of a filter that is not there. */
export function findFilter(
  { row, params, elements }: Pick<Decided, 'row' | 'params' | 'elements'>,
  caller: Caller,
  context: Context,
): StickyCall | WholeAnswer {
  const [id = 'null'] = elements
  const ends = row.rule.sticky === 'end'
  const { filters, upstreams, clock } = context.live
  const filter = filters.find(id, readerOf(caller), caller.network.slug)
  if (filter === null) return unknownFilter(ends)
  if (upstreams.isOut(filter.route, FORGOTTEN_AFTER, clock.monotonic())) {
    filters.remove(id)
    return unknownFilter(ends)
  }
  if (ends) filters.remove(id)
  return {
    routes: [filter.route],
    params: `[${filter.upstreamId}${params.slice(skipSpace(params, 1) + id.length)}`,
  }
}

/** geth answers false to the end of a filter that is not there, and an error to any other use of it. */
function unknownFilter(ends: boolean): WholeAnswer {
  if (ends) return { kind: 'result', result: 'false' }
  return { kind: 'error', error: rawJson({ code: -32000, message: 'filter not found' }) }
}

/** Puts an id of ours in place of the node's. */
export function keepFilter(answer: Answer, route: string | null, caller: Caller, context: Context): Answer {
  if (answer.kind !== 'result' || route === null) return answer
  const { slug: network } = caller.network
  const owner = readerOf(caller)
  return { ...answer, result: context.live.filters.add({ owner, network, route, upstreamId: answer.result }) }
}
