/** What the head of a verbatim reply, or its absence, means for the call. */
import { refuse } from '../../../refusal/refusal.ts'
import type { Refusal } from '../../../refusal/refusal.ts'
import { setback, statusSetback } from '../verdict.ts'
import type { Setback } from '../verdict.ts'
import type { Breach, ReplyHead } from './passage.ts'

const NOT_MODIFIED = 304
const NOT_IMPLEMENTED = 501

/** Judges by the status alone: bodies pass unread. */
export function judgeHead(result: ReplyHead | Breach): ReplyHead | Setback {
  if (result.kind === 'breach') return breachSetback(result)
  const { status, reply } = result
  if (status === NOT_MODIFIED) return result
  // Another route may have what this one never had.
  if (status === NOT_IMPLEMENTED)
    return { ...setback('unsupported', refuse('upstream_error'), false), detour: true }
  const byStatus = statusSetback(status, reply.headers['retry-after'] ?? null)
  if (byStatus !== null) return byStatus
  if (status < 200) return setback(`http_${status}`, refuse('upstream_error'), true)
  return result
}

const refusals: Readonly<Record<Breach['how'], Refusal>> = {
  unreachable: refuse('no_route'),
  reset: refuse('upstream_error'),
  timeout: refuse('upstream_timeout'),
  garbage: refuse('upstream_error'),
  aborted: refuse('upstream_error'),
  body_too_large: refuse('body_too_large'),
}

function breachSetback({ how, sent }: Breach): Setback {
  const why = how === 'garbage' ? 'bad_reply' : how
  return { ...setback(why, refusals[how], how !== 'aborted' && how !== 'body_too_large'), sent }
}
