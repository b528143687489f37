/** Goes from route to route while a call may be repeated, within one deadline and the network's retry budget. */
import { isRefusal, refuse, SHUTTING_DOWN } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { MethodRow, Network } from '../../snapshot/types.ts'
import type { Candidate, Need, Picked } from '../../routes/pick.ts'
import type { AttemptKind, CallRecord } from '../../ports/tracing.ts'
import type { Failure } from '../../routes/transport/verdict.ts'
import type { Context } from '../context.ts'
import { TIMEOUTS } from './request.ts'

/** Routes one call may be sent to. */
const MAX_ATTEMPTS = 3
/** Milliseconds that a call waits for room when every route is at its limits, and between two looks. */
const WAIT_FOR_ROOM = 1_000
const LOOK_EVERY = 20

const NONE: readonly string[] = []

/** What is looked for: a route that answers. */
export interface Wanted {
  readonly network: Network
  readonly row: MethodRow
  /** Ids of the routes that may serve the call. */
  readonly routes: readonly string[]
  readonly need: Need
  readonly method: string
  /** Whose call it is: what its calls have suffered keeps only its own away from a route. */
  readonly caller: string
  /** When its time is up, by the monotonic clock; null where that is counted from now. */
  readonly until: number | null
}

/** What bounds the tries. */
export interface Bounds {
  /** Whether the call may be sent again once a node may have seen it (the rule's retry class). */
  readonly repeat: 'safe' | 'dedupe' | 'never'
  /** Whether nobody waits for an answer any more. */
  readonly isGone: () => boolean
}

/** What one try needs to know of the others. */
export interface Try {
  readonly picked: Candidate
  /** Milliseconds left of the deadline. */
  readonly left: number
  /** Whether an earlier try may have reached a node. */
  readonly sentBefore: boolean
  readonly kind: AttemptKind
  /** Picks one more route, for a second try beside this one. */
  readonly another: () => Picked
  /** Picks up to so many more, each to another upstream, for tries at once with the first one. */
  readonly beside: (most: number) => readonly Candidate[]
}

/** How one try, or two side by side, ended. */
export interface Tried<V> {
  readonly verdict: V | Failure
  readonly candidate: Candidate
}

/** Where a call has been. */
export interface Trail {
  /** The route that answered, or was tried last; null where none was. */
  route: string | null
  /** What the cache made of the call; null where nothing of its method is kept. */
  cache: 'hit' | 'miss' | 'bypass' | null
  /** Whether an equal call was sent in its place. */
  shared: boolean
  /** What is recorded of it for its trace; null where nothing is. */
  readonly trace: CallRecord | null
}

/** What came of all tries. */
export type Ended<V, R> =
  | { readonly kind: 'answered'; readonly verdict: V; readonly tried: R }
  /** Every route is at its limits. */
  | { readonly kind: 'full' }
  | { readonly kind: 'abandoned'; readonly route: string }
  /** `route` is the last that was tried. */
  | { readonly kind: 'failed'; readonly failures: readonly Failure[]; readonly route: string | null }

/** Tries routes until one answers, or no more may be tried. */
export async function tryInTurn<V extends { readonly kind: string }, R extends Tried<V>>(
  wanted: Wanted,
  { repeat, isGone }: Bounds,
  context: Context,
  tryOne: (each: Try) => Promise<R>,
): Promise<Ended<V, R>> {
  const { network, row, caller } = wanted
  const { upstreams, clock } = context.live
  // Read once a round: the clock costs what a stage of the call does.
  let now = clock.monotonic()
  const deadline = wanted.until ?? now + TIMEOUTS[row.rule.timeout].deadline
  const budget = upstreams.budget(network.slug)
  budget.call(caller, now)
  let tried = upstreams.unsupported.among(wanted.routes, wanted.method, caller, now)
  let isLastResort = false
  const failures: Failure[] = []
  let route: string | null = null
  while (failures.length < MAX_ATTEMPTS) {
    const last = failures.at(-1)
    if (last !== undefined) {
      // The caller may have lost its key since.
      if (isRefusal(context.renew())) break
      // What cannot be sent again takes nothing from the budget.
      if (!mayGoOn(repeat, failures) || wanted.routes.every(id => tried.includes(id))) break
      // The others have said the same, not long ago.
      if (isLastResort && last.why === 'unsupported') break
      now = clock.monotonic()
      if (!last.detour && !budget.take(caller, now)) break
    }
    let first = pickNow(wanted, tried, last, context, now)
    if (first === 'none' && last === undefined && tried.length > 0) {
      // Routes that are thought not to have the method are better than none.
      tried = NONE
      isLastResort = true
      first = pickNow(wanted, tried, last, context, now)
    }
    let picked = first
    if (first === 'full') {
      picked = await waitForRoom(wanted, tried, last, context)
      now = clock.monotonic()
    }
    if (picked === 'full') return { kind: 'full' }
    const left = deadline - now
    if (picked === 'none' || left <= 0) break
    tried = [...tried, picked.route.id]
    const sentBefore = failures.length > 0 && failures.some(each => each.sent && !isTurnedDown(each))
    const kind = failures.length > 0 ? 'retry' : 'first'
    const another = (): Picked => {
      const then = clock.monotonic()
      // A route that has not come to what the call reads would win with an older answer.
      const behind = upstreams.behind(wanted.routes, wanted.need, then)
      const out = [...tried, ...behind]
      const second = budget.take(caller, then) ? pickNow(wanted, out, undefined, context, then) : 'none'
      if (typeof second !== 'string') tried = [...tried, second.route.id]
      return second
    }
    const chosen = picked
    const beside = (most: number): readonly Candidate[] => {
      // After a first round that came to nothing, the routes that are left are tried in turn.
      const more = failures.length > 0 ? [] : upstreams.beside(chosen, wanted, tried, now, most)
      tried = [...tried, ...more.map(({ route: { id } }) => id)]
      return more
    }
    const round = await tryOne({ picked, left, sentBefore, kind, another, beside })
    const { verdict, candidate }: Tried<V> = round
    if (!isFailure(verdict)) return { kind: 'answered', verdict, tried: round }
    failures.push(verdict)
    route = candidate.route.id
    // What ended by itself is a failure like any other, and is not tried again for nobody.
    if (isGone())
      return verdict.why === 'aborted' ? { kind: 'abandoned', route } : { kind: 'failed', failures, route }
    if (mayAskAgain(verdict, failures, wanted, repeat)) tried = tried.filter(id => id !== candidate.route.id)
  }
  return { kind: 'failed', failures, route }
}

/** Where a call has been that ended so. */
export function routeOf<V, R extends Tried<V>>(ended: Ended<V, R>): string | null {
  if (ended.kind === 'answered') return ended.tried.candidate.route.id
  return ended.kind === 'full' ? null : ended.route
}

/** What is told of a call that no route answered. */
export function lastRefusal(failures: readonly Failure[], { live }: Context): Refusal {
  // Not the fault that the end of this process made of it.
  if (live.upstreams.closed) return refuse('no_route', SHUTTING_DOWN)
  return failures.at(-1)?.refusal ?? refuse('no_route')
}

function isFailure(verdict: { readonly kind: string }): verdict is Failure {
  return verdict.kind === 'failure'
}

/** A node that said why it would not take the call has not acted on it. */
export function isTurnedDown({ complaint, said, why }: Failure): boolean {
  return complaint !== null || (said !== null && why !== 'internal' && why !== 'stray_reply')
}

/** Only what a repetition cannot change is repeated; anything is where nothing was sent. */
function mayGoOn(repeat: Bounds['repeat'], failures: readonly Failure[]): boolean {
  const { why, sent } = failures.at(-1)!
  if (why === 'too_large' || why === 'no_room') return false
  // A node that failed at the call may have acted on it, and the next one is likely to fail as well.
  if (why === 'internal') return repeat === 'safe' && failures.filter(each => each.why === why).length === 1
  return !sent || repeat !== 'never'
}

/** HTTP statuses of a front end whose node was not there for a moment, and replies to other calls that its connection still held. */
const PASSING = new Set(['http_500', 'http_502', 'http_503', 'stray_reply', 'wrong_answer'])

/** What went in one body with other calls goes by itself then, and does not fail so again. */
const IN_ONE_BODY = new Set(['batch_refused', 'batch_too_long'])

/**
 * Whether the same route may be asked once more: a kept-alive connection that the upstream closed at that moment says nothing about it;
 * and where there is no other, a safe read is worth a second try.
 */
function mayAskAgain(
  { why }: Failure,
  failures: readonly Failure[],
  { routes }: Wanted,
  repeat: Bounds['repeat'],
): boolean {
  if (IN_ONE_BODY.has(why)) return true
  if (why === 'reset') return failures.filter(each => each.why === 'reset').length === 1
  return PASSING.has(why) && routes.length === 1 && repeat === 'safe' && failures.length === 1
}

/** The route for the next attempt once one has room; waits a little for that. */
async function waitForRoom(
  wanted: Wanted,
  tried: readonly string[],
  last: Failure | undefined,
  context: Context,
): Promise<Picked> {
  const { clock, upstreams } = context.live
  const { routes, need } = wanted
  const patience = clock.monotonic() + WAIT_FOR_ROOM
  for (;;) {
    const then = clock.monotonic()
    for (const id of upstreams.behind(routes, need, then)) upstreams.get(id)?.lookAgain(then)
    await new Promise<void>(resolve => clock.after(LOOK_EVERY, resolve))
    const now = clock.monotonic()
    const picked = pickNow(wanted, tried, last, context, now)
    if (picked !== 'full' || now >= patience) return picked
  }
}

/** The route for the next attempt. After missing state only an archive helps. */
function pickNow(
  { network, row, routes, need, caller }: Wanted,
  tried: readonly string[],
  last: Failure | undefined,
  { live: { upstreams } }: Context,
  now: number,
): Picked {
  const archive =
    last?.why === 'missing' ? row.archive.filter(id => routes.includes(id) && !tried.includes(id)) : []
  return upstreams.pick(network, archive.length > 0 ? archive : routes, tried, need, caller, now)
}
