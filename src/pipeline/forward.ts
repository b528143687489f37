/** Sends a call upstream: to the next able route while the call may be repeated, within one deadline and a budget. */
import { setTimeout as pause } from 'node:timers/promises'
import { refuse } from '../jsonrpc/refusal.ts'
import { findOpenMember } from '../jsonrpc/relay.ts'
import type { Reply } from '../jsonrpc/reply.ts'
import type { MethodRow } from '../snapshot/types.ts'
import type { Picked } from '../upstream/pick.ts'
import type { Setback, Verdict } from '../upstream/verdict.ts'
import { refused } from './answer.ts'
import type { Answer } from './answer.ts'
import type { Context } from './context.ts'
import { hedged } from './hedge.ts'
import type { ReplyMode, Request } from './request.ts'
import { TIMEOUTS } from './timeouts.ts'

/** Routes one call may be sent to. */
const MAX_ATTEMPTS = 3
/** Milliseconds that a call waits for room when every route is at its limits, and between two looks. */
const WAIT_FOR_ROOM = 1_000
const LOOK_EVERY = 20

/** The answer, and the route that gave it. */
export interface Forwarded {
  readonly answer: Answer
  readonly route: string | null
}

/** Sends `request` upstream until a route answers, or no more may be tried. */
export async function forward(request: Request, mode: ReplyMode, context: Context): Promise<Forwarded> {
  const { network, row } = request
  const { upstreams, now } = context.live
  const deadline = performance.now() + TIMEOUTS[row.rule.timeout].deadline
  const budget = upstreams.budget(network.slug)
  budget.call(now())
  // Only heavy calls are worth a listener: a node may be at work on them for a minute.
  const signal = row.rule.timeout === 'heavy' ? context.gone() : null
  const tried = new Set<string>()
  const setbacks: Setback[] = []
  while (setbacks.length < MAX_ATTEMPTS) {
    const last = setbacks.at(-1)
    if (last !== undefined && !(mayGoOn(row, last) && (isDetour(last) || budget.take(now())))) break
    const picked = await choose(request, tried, last, context)
    if (picked === 'full')
      return { answer: refused(refuse('overloaded', 'Every route is at its limit')), route: null }
    const left = deadline - performance.now()
    if (picked === 'none' || left <= 0) break
    tried.add(picked.route.id)
    const sentBefore = setbacks.some(each => each.sent && !isTurnedDown(each))
    const options = { left, mode, sentBefore, signal }
    const another = (): Picked => {
      const second = budget.take(now()) ? pickNow(request, tried, undefined, context) : 'none'
      if (typeof second !== 'string') tried.add(second.route.id)
      return second
    }
    const { verdict, id, candidate } = await hedged(picked, request, options, context, another)
    if (verdict.kind !== 'setback') return { answer: answerOf(verdict, id), route: candidate.route.id }
    if (signal?.aborted === true) return { answer: { kind: 'abandoned' }, route: null }
    setbacks.push(verdict)
    if (isStaleConnection(verdict, setbacks)) tried.delete(candidate.route.id)
  }
  return { answer: lastWord(setbacks), route: null }
}

/** A route that answered, and cannot know: going on to one that can is no retry, and buries nobody. */
function isDetour({ why }: Setback): boolean {
  return why === 'missing_state' || why === 'unsupported' || why === 'null_behind' || why === 'not_yet'
}

/** A node that said why it would not take the call has not acted on it. */
function isTurnedDown(setback: Setback): boolean {
  return isDetour(setback) || setback.why === 'limited' || setback.why === 'syncing'
}

/** Only what a repetition cannot change is repeated; anything is where nothing was sent. */
function mayGoOn({ rule }: MethodRow, last: Setback): boolean {
  return last.why !== 'too_large' && (!last.sent || rule.retry !== 'never')
}

/** A kept-alive connection that the upstream closed at that moment says nothing about the route: it may be asked again. */
function isStaleConnection({ why }: Setback, setbacks: readonly Setback[]): boolean {
  return why === 'reset' && setbacks.filter(each => each.why === 'reset').length === 1
}

/** The route for the next attempt; waits a little when all are full. After missing state only an archive helps. */
async function choose(
  request: Request,
  tried: ReadonlySet<string>,
  last: Setback | undefined,
  context: Context,
): Promise<Picked> {
  const patience = performance.now() + WAIT_FOR_ROOM
  for (;;) {
    const picked = pickNow(request, tried, last, context)
    if (picked !== 'full' || performance.now() >= patience) return picked
    await pause(LOOK_EVERY)
  }
}

function pickNow(
  { network, row, routes, need }: Request,
  tried: ReadonlySet<string>,
  last: Setback | undefined,
  { live: { upstreams, now } }: Context,
): Picked {
  const archive = last?.why === 'missing_state' ? row.archive.filter(id => !tried.has(id)) : []
  return upstreams.pick(network, archive.length > 0 ? archive : routes, tried, need, now())
}

/** A node's own word about the call is worth more than that a later route could not be reached. */
function lastWord(setbacks: readonly Setback[]): Answer {
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
