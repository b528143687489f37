/** Sends a call upstream, to the next able route while it may be repeated, and reads the answer out of the tries. */
import { refuse } from '../../refusal/refusal.ts'
import type { Reply } from '../../jsonrpc/reply.ts'
import type { Failure, Verdict } from '../../routes/transport/verdict.ts'
import { refused } from '../reply/answer.ts'
import type { Answer } from '../reply/answer.ts'
import { lastRefusal, tryInTurn } from './attempts.ts'
import type { Ended } from './attempts.ts'
import type { Context } from '../context.ts'
import { hedged } from './hedge.ts'
import type { Round } from './attempt.ts'
import type { ReplyMode, Request } from './request.ts'

/** The answer, and the route that gave it. */
export interface Forwarded {
  readonly answer: Answer
  readonly route: string | null
}

/** How the tries of a call ended. */
export type Ending = Ended<Exclude<Verdict, Failure>, Round>

/** Sends `request` upstream until a route answers, or no more may be tried. */
export function forward(request: Request, mode: ReplyMode, context: Context): Promise<Ending> {
  const { rule } = request.row
  // Only heavy calls are worth a listener: a node may be at work on them for a minute.
  const signal = rule.timeout === 'heavy' ? context.gone() : null
  const bounds = { repeat: rule.retry, isGone: () => signal?.aborted === true }
  return tryInTurn<Exclude<Verdict, Failure>, Round>(
    request,
    bounds,
    context,
    ({ picked, left, sentBefore, another }) =>
      hedged(picked, request, { left, mode, sentBefore, signal }, context, another),
  )
}

/** What the client is told of an ending. */
export function forwarded(ended: Ending, context: Context): Forwarded {
  switch (ended.kind) {
    case 'answered': {
      return { answer: answerOf(ended.verdict), route: ended.tried.candidate.route.id }
    }
    case 'full':
      return { answer: refused(refuse('overloaded', 'Every route is at its limit')), route: null }
    case 'abandoned':
      return { answer: { kind: 'abandoned' }, route: null }
    case 'failed':
      return { answer: lastWord(ended.failures, context), route: null }
  }
}

/** A node's own word about the call is worth more than that a later route could not be reached. */
function lastWord(failures: readonly Failure[], context: Context): Answer {
  if (context.live.upstreams.closed) return refused(lastRefusal(failures, context))
  const said = failures.findLast(({ passOn }) => passOn)?.said ?? null
  if (said !== null) return answerOf(said)
  return refused(lastRefusal(failures, context))
}

function answerOf(verdict: Exclude<Verdict, Failure> | Reply): Answer {
  return verdict.kind === 'open' ? { ...verdict, kind: 'stream' } : verdict
}
