/** What the head of a verbatim reply, or its absence, means for the call. */
import { refuse } from '../../../refusal/refusal.ts'
import type { Refusal } from '../../../refusal/refusal.ts'
import { failure, statusFailure } from '../verdict.ts'
import type { Failure } from '../verdict.ts'
import type { ExchangeFailure, ReplyHead } from './proxied-request.ts'

const NOT_MODIFIED = 304
export const NOT_IMPLEMENTED = 501

/** Judges by the status alone: bodies pass unread. */
export function judgeHead(result: ReplyHead | ExchangeFailure): ReplyHead | Failure {
  if (result.kind === 'failure') return breachFailure(result)
  const { status, reply } = result
  if (status === NOT_MODIFIED) return result
  // Another route may have what this one never had.
  if (status === NOT_IMPLEMENTED)
    return { ...failure('unsupported', refuse('upstream_error'), false), detour: true }
  const byStatus = statusFailure(status, reply.headers['retry-after'] ?? null)
  if (byStatus !== null) return byStatus
  if (status < 200) return failure(`http_${status}`, refuse('upstream_error'), true)
  return result
}

const refusals: Readonly<Record<ExchangeFailure['how'], Refusal>> = {
  unreachable: refuse('no_route'),
  reset: refuse('upstream_error'),
  timeout: refuse('upstream_timeout'),
  garbage: refuse('upstream_error'),
  aborted: refuse('upstream_error'),
  body_too_large: refuse('body_too_large'),
  denied: refuse('invalid_key'),
}

/** How an exchange ends that says nothing about its route. */
const OF_THE_CLIENT: ReadonlySet<ExchangeFailure['how']> = new Set(['aborted', 'body_too_large', 'denied'])

function breachFailure({ how, sent, cause = null, refusal = refusals[how] }: ExchangeFailure): Failure {
  const why = how === 'garbage' ? 'bad_reply' : how
  return { ...failure(why, refusal, !OF_THE_CLIENT.has(how)), sent, ...(cause !== null && { cause }) }
}
