/** Sends a call upstream until a route answers, and says what that comes to. */
import type { Reply } from '../../jsonrpc/message.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Failure, Verdict } from '../../routes/transport/verdict.ts'
import type { Context } from '../context.ts'
import { refused } from '../reply/answer.ts'
import type { Answer } from '../reply/answer.ts'
import type { Fetched } from '../share/flight.ts'
import { attempt } from './attempt.ts'
import type { Round } from './attempt.ts'
import { lastRefusal, routeOf, tryInTurn } from './attempts.ts'
import type { Ended } from './attempts.ts'
import { broadcast, spreadOf } from './broadcast.ts'
import { hedged } from './hedge.ts'
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
  const { network, row } = request
  const { rule } = row
  // Only heavy calls are worth a listener: a node may be at work on them for a minute.
  const departure = rule.timeout === 'heavy' ? request.departure() : null
  const bounds = { repeat: rule.retry, isGone: () => (departure ?? request.departure())?.isOver === true }
  const isBroadcast = spreadOf(network, rule) > 1
  return tryInTurn<Exclude<Verdict, Failure>, Round>(
    request,
    bounds,
    context,
    ({ picked, left, sentBefore, kind, another, beside }) => {
      const options = { left, mode, sentBefore, departure, kind }
      if (isBroadcast) return broadcast(picked, request, options, context, beside)
      return network.hedge
        ? hedged(picked, request, options, context, another)
        : attempt(picked, request, options, context)
    },
  )
}

/** What the client gets. */
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
  // A chain without finality, or a block that nobody has: every route reports it, so a retry of the client cannot help.
  const behind = failures.every(({ why }) => why === 'behind') ? failures.at(-1)?.said : null
  if (behind != null) return answerOf(behind)
  return refused(lastRefusal(failures, context))
}

function answerOf(verdict: Exclude<Verdict, Failure> | Reply): Answer {
  return verdict.kind === 'open' ? { ...verdict, kind: 'stream' } : verdict
}

/** The same, as others who asked for it may take it. */
export function fetchedOf(ended: Ending, context: Context): Fetched {
  const { answer, route } = forwarded(ended, context)
  return { answer, route, tried: routeOf(ended), isOwn: isOwn(ended) }
}

/** Whether a call came to nothing for want of its caller's own share of routes, connections or memory. */
function isOwn(ended: Ending): boolean {
  if (ended.kind !== 'failed') return ended.kind === 'full'
  const last = ended.failures.at(-1)
  return last === undefined || OWN.has(last.why)
}

const OWN: ReadonlySet<string> = new Set(['no_room', 'too_large', 'no_turn', 'client_left', 'aborted'])
