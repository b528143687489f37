/** Filter calls: the client's own id, and the route whose node holds the filter. */
import { refuse } from '../../refusal/refusal.ts'
import { rawJson } from '../../jsonrpc/raw.ts'
import { skipSpace } from '../../jsonrpc/skip.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { refused } from '../reply/answer.ts'
import type { Answer, WholeAnswer } from '../reply/answer.ts'
import type { Caller } from '../caller.ts'
import type { Context } from '../context.ts'
import type { Decided } from '../decide.ts'
import { readerOf } from '../caller.ts'

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
  const { filters, freeEnds, upstreams, clock } = context.live
  const owner = readerOf(caller)
  const filter = filters.open(id, owner, caller.network.slug)
  if (filter === null) return unknownFilter(ends)
  if (ends) freeEnds.use(owner)
  const now = clock.monotonic()
  const url = upstreams.route(filter.route)?.http
  // Clients make a new one when they hear that it is not found.
  const isGone = upstreams.hasForgotten(filter.route, now - (clock.now() - filter.madeAt), now)
  if (url === undefined || filters.nodeAt(url) !== filter.node || isGone) return unknownFilter(ends)
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
  if (answer.kind === 'stream' && answer.member === 'result') {
    // Longer than any id.
    answer.body.destroy()
    return refused(refuse('upstream_error'))
  }
  const { filters, freeEnds, upstreams, clock } = context.live
  const url = route === null ? undefined : upstreams.route(route)?.http
  if (answer.kind !== 'result' || route === null || url === undefined) return answer
  const { slug: network } = caller.network
  const owner = readerOf(caller)
  const filter = { network, route, node: filters.nodeAt(url), upstreamId: answer.result, madeAt: clock.now() }
  const result = filters.seal(filter, owner)
  if (result === null) return refused(refuse('upstream_error'))
  freeEnds.add(owner)
  return { ...answer, result }
}
