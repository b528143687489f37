/** Sends a call upstream, to the next able route while it may be repeated, and reads the answer out of the tries. */
import { refuse, SHUTTING_DOWN } from '../jsonrpc/refusal.ts'
import { findOpenMember } from '../jsonrpc/relay.ts'
import type { Reply } from '../jsonrpc/reply.ts'
import type { Setback, Verdict } from '../upstream/verdict.ts'
import { refused } from './answer.ts'
import type { Answer } from './answer.ts'
import { tryInTurn } from './attempts.ts'
import type { Context } from './context.ts'
import { hedged } from './hedge.ts'
import type { Round } from './attempt.ts'
import type { ReplyMode, Request } from './request.ts'

/** The answer, and the route that gave it. */
export interface Forwarded {
  readonly answer: Answer
  readonly route: string | null
}

/** Sends `request` upstream until a route answers, or no more may be tried. */
export async function forward(request: Request, mode: ReplyMode, context: Context): Promise<Forwarded> {
  const { rule } = request.row
  // Only heavy calls are worth a listener: a node may be at work on them for a minute.
  const signal = rule.timeout === 'heavy' ? context.gone() : null
  const bounds = { repeatable: rule.retry !== 'never', isGone: () => signal?.aborted === true }
  const ended = await tryInTurn<Exclude<Verdict, Setback>, Round>(
    request,
    bounds,
    context,
    ({ picked, left, sentBefore, another }) =>
      hedged(picked, request, { left, mode, sentBefore, signal }, context, another),
  )
  switch (ended.kind) {
    case 'answered': {
      const { id, candidate } = ended.tried
      return { answer: answerOf(ended.verdict, id), route: candidate.route.id }
    }
    case 'full':
      return { answer: refused(refuse('overloaded', 'Every route is at its limit')), route: null }
    case 'abandoned':
      return { answer: { kind: 'abandoned' }, route: null }
    case 'failed':
      return { answer: lastWord(ended.setbacks, context), route: null }
  }
}

/** A node's own word about the call is worth more than that a later route could not be reached. */
function lastWord(setbacks: readonly Setback[], { live }: Context): Answer {
  // Not the fault that the end of this process made of it.
  if (live.upstreams.closed) return refused(refuse('no_route', SHUTTING_DOWN))
  const answered = setbacks.findLast(({ answer }) => answer !== null)?.answer ?? null
  if (answered !== null) return answerOf(answered, 0)
  return refused(setbacks.at(-1)?.refusal ?? refuse('no_route'))
}

function answerOf(verdict: Exclude<Verdict, Setback> | Reply, sentAs: number): Answer {
  if (verdict.kind !== 'open') return verdict
  const { head, tail } = verdict
  const open = findOpenMember(head.toString('latin1'))
  if (open !== null) return { kind: 'stream', ...open, head, tail, sentAs }
  tail.destroy()
  return refused(refuse('upstream_error'))
}
