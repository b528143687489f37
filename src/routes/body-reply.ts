/** What the reply to one body of several calls is to each of them. */
import { isReply } from '../jsonrpc/message.ts'
import { scanReplies } from '../jsonrpc/replies.ts'
import type { JudgedCall } from '../families/errors/classify.ts'
import type { Asked } from './asked.ts'
import type { Broken, Exchange } from './transport/exchange.ts'
import { judge } from './transport/verdict.ts'

/** What each call gets, in their order, and why the upstream is not sent such bodies for a while; null where it took this one well. */
export interface Shares {
  readonly exchanges: readonly Exchange[]
  readonly refusal: string | null
}

/** A call, as far as a reply is read for it. */
type BodyCall = JudgedCall & Pick<Asked, 'id'>

/** HTTP statuses that say nothing of a body in particular: the upstream is busy, or its node was not there. */
const OF_THE_ROUTE = new Set([408, 429, 502, 503, 504])

/** Classes of errors in place of an array that say nothing of it in particular. */
const ABOUT_THE_ROUTE = new Set(['limited', 'unavailable'])

/** Errors of a call that it has only because it went with others: nodes bound the length of a batch and of its reply. */
const FOR_COMPANY = /batch|response (?:is |was )?too (?:large|big)|response size/i

const REFUSED: Broken = { kind: 'broken', how: 'batch_refused', sent: true, isPaidFor: true }
const TOO_LONG: Broken = { kind: 'broken', how: 'batch_too_long', sent: true, isPaidFor: true }

/** Shares out the reply to a body of calls, each of which may be sent again. */
export function shareOut(exchange: Exchange, calls: readonly BodyCall[]): Shares {
  if (exchange.kind === 'open') throw new Error('the reply to several calls never streams')
  if (exchange.kind === 'broken') return shareBreak(exchange, calls)
  const { status, body } = exchange
  if (OF_THE_ROUTE.has(status) || (status >= 300 && status < 400)) return forAll(exchange, calls)
  if (status >= 400) return refused(`HTTP ${status}`, calls)
  const replies = scanReplies(body)
  if (replies === null)
    return isAboutTheRoute(exchange, calls[0]!)
      ? forAll(exchange, calls)
      : refused(isReply(body) ? 'one reply in place of several' : 'no array of replies', calls)
  const { byId } = replies
  const own = calls.map(({ id }) => byId.get(String(id)) ?? null)
  const isWhole = replies.isWhole && byId.size === calls.length && !own.includes(null)
  // What belongs to none of these calls shows that the connection holds other replies.
  if (!isWhole && byId.size > own.filter(each => each !== null).length) exchange.retire?.()
  const exchanges = own.map(each => {
    if (each === null) return REFUSED
    const { raw, error } = each
    const isError = error !== undefined && error !== 'null'
    return isError && (!isWhole || FOR_COMPANY.test(error)) ? REFUSED : { ...exchange, body: raw }
  })
  return { exchanges, refusal: isWhole ? null : 'replies that are missing, doubled or to other ids' }
}

/** Why the upstream does not take such a body; null where it does, undefined where the reply does not say. */
export function refusalOf(exchange: Exchange, calls: readonly BodyCall[]): string | null | undefined {
  const { exchanges, refusal } = shareOut(exchange, calls)
  // What is about the route in general stays as it is.
  return exchanges[0] === exchange ? undefined : refusal
}

function shareBreak(exchange: Broken, calls: readonly BodyCall[]): Shares {
  const { how } = exchange
  if (how === 'too_large' || how === 'no_room') return { exchanges: calls.map(() => TOO_LONG), refusal: null }
  // Calls that a slow upstream may be at work on are not all sent again for the price of one.
  if (how === 'timeout') return { exchanges: calls.map(() => exchange), refusal: null }
  return forAll(exchange, calls)
}

/** The first call pays for its retry, and for those of the others: one exchange failed. */
function forAll(exchange: Exclude<Exchange, { kind: 'open' }>, calls: readonly BodyCall[]): Shares {
  const others: Exchange = { ...exchange, isPaidFor: true }
  return { exchanges: calls.map((_, i) => (i === 0 ? exchange : others)), refusal: null }
}

function refused(refusal: string, calls: readonly BodyCall[]): Shares {
  return { exchanges: calls.map(() => REFUSED), refusal }
}

/** Whether what came in place of an array says that the route is busy or ill; "the batch is over the limit" does not. */
function isAboutTheRoute(exchange: Exchange, call: BodyCall): boolean {
  const verdict = judge(exchange, call.id, call)
  if (verdict.kind !== 'failure' || !ABOUT_THE_ROUTE.has(verdict.why)) return false
  return verdict.said?.kind === 'error' && !FOR_COMPANY.test(verdict.said.message)
}
