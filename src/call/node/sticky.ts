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
import { rangeFault } from '../params.ts'
import type { BlockSpan } from '../../families/block-span.ts'
import type { Filter } from '../../routes/filters.ts'

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
  // What it finds may have grown with the chain.
  const tooWide = rangeFault(row.rule, spanOf(filter), context.live.heads.best(caller.network.slug))
  if (tooWide !== null) return refused(tooWide)
  return {
    routes: [filter.route],
    params: `[${filter.upstreamId}${params.slice(skipSpace(params, 1) + id.length)}`,
  }
}

function spanOf({ range }: Filter): BlockSpan {
  if (range === undefined) return null
  const to = range.to === null ? LATEST : ({ kind: 'number', number: range.to } as const)
  return { from: { kind: 'number', number: range.from }, to }
}

const LATEST = { kind: 'tag', tag: 'latest' } as const

/** The blocks of a log filter, as far as a number says where they begin. */
function rangeOf(span: BlockSpan): Pick<Filter, 'range'> {
  if (span === null) return {}
  const { from, to } = span
  if (from.kind === 'hash' || (from.kind === 'tag' && from.tag !== 'earliest')) return {}
  return {
    range: { from: from.kind === 'number' ? from.number : 0, to: to.kind === 'number' ? to.number : null },
  }
}

/** geth answers false to the end of a filter that is not there, and an error to any other use of it. */
function unknownFilter(ends: boolean): WholeAnswer {
  if (ends) return { kind: 'result', result: 'false' }
  return { kind: 'error', error: rawJson({ code: -32000, message: 'filter not found' }) }
}

/** Puts an id of ours in place of the node's; `span` are the blocks of a log filter. */
export function keepFilter(
  answer: Answer,
  route: string | null,
  span: BlockSpan,
  caller: Caller,
  context: Context,
): Answer {
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
  const made = { node: filters.nodeAt(url), upstreamId: answer.result, madeAt: clock.now() }
  const filter = { network, route, ...made, ...rangeOf(span) }
  const result = filters.seal(filter, owner)
  if (result === null) return refused(refuse('upstream_error'))
  freeEnds.add(owner)
  return { ...answer, result }
}
