/** Goes from route to route while a call may be repeated, within one deadline and the network's retry budget. */
import { setTimeout as pause } from 'node:timers/promises'
import { refuse, SHUTTING_DOWN } from '../jsonrpc/refusal.ts'
import type { Refusal } from '../jsonrpc/refusal.ts'
import type { MethodRow, Network } from '../snapshot/types.ts'
import type { Candidate, Need, Picked } from '../upstream/pick.ts'
import type { Setback } from '../upstream/verdict.ts'
import type { Context } from './context.ts'
import { TIMEOUTS } from './timeouts.ts'

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
}

/** What bounds the tries. */
export interface Bounds {
  /** Whether the call may be sent again once a node may have seen it. */
  readonly repeatable: boolean
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
  /** Picks one more route, for a second try beside this one. */
  readonly another: () => Picked
}

/** How one try, or two side by side, ended. */
export interface Tried<V> {
  readonly verdict: V | Setback
  readonly candidate: Candidate
}

/** What came of all tries. */
export type Ended<V, R> =
  | { readonly kind: 'answered'; readonly verdict: V; readonly tried: R }
  /** Every route is at its limits. */
  | { readonly kind: 'full' }
  | { readonly kind: 'abandoned' }
  | { readonly kind: 'failed'; readonly setbacks: readonly Setback[] }

/** Tries routes until one answers, or no more may be tried. */
export async function tryInTurn<V extends { readonly kind: string }, R extends Tried<V>>(
  wanted: Wanted,
  { repeatable, isGone }: Bounds,
  context: Context,
  tryOne: (each: Try) => Promise<R>,
): Promise<Ended<V, R>> {
  const { network, row } = wanted
  const { upstreams, now } = context.live
  const deadline = performance.now() + TIMEOUTS[row.rule.timeout].deadline
  const budget = upstreams.budget(network.slug)
  budget.call(now())
  let tried: readonly string[] = NONE
  const setbacks: Setback[] = []
  while (setbacks.length < MAX_ATTEMPTS) {
    const last = setbacks.at(-1)
    if (last !== undefined && !(mayGoOn(repeatable, last) && (isDetour(last) || budget.take(now())))) break
    const first = pickNow(wanted, tried, last, context)
    const picked = first === 'full' ? await waitForRoom(wanted, tried, last, context) : first
    if (picked === 'full') return { kind: 'full' }
    const left = deadline - performance.now()
    if (picked === 'none' || left <= 0) break
    tried = [...tried, picked.route.id]
    const sentBefore = setbacks.length > 0 && setbacks.some(each => each.sent && !isTurnedDown(each))
    const another = (): Picked => {
      const second = budget.take(now()) ? pickNow(wanted, tried, undefined, context) : 'none'
      if (typeof second !== 'string') tried = [...tried, second.route.id]
      return second
    }
    const round = await tryOne({ picked, left, sentBefore, another })
    const { verdict, candidate }: Tried<V> = round
    if (!isSetback(verdict)) return { kind: 'answered', verdict, tried: round }
    if (isGone()) return { kind: 'abandoned' }
    setbacks.push(verdict)
    if (isStaleConnection(verdict, setbacks)) tried = tried.filter(id => id !== candidate.route.id)
  }
  return { kind: 'failed', setbacks }
}

/** What is told of a call that no route answered. */
export function lastRefusal(setbacks: readonly Setback[], { live }: Context): Refusal {
  // Not the fault that the end of this process made of it.
  if (live.upstreams.closed) return refuse('no_route', SHUTTING_DOWN)
  return setbacks.at(-1)?.refusal ?? refuse('no_route')
}

function isSetback(verdict: { readonly kind: string }): verdict is Setback {
  return verdict.kind === 'setback'
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
function mayGoOn(repeatable: boolean, last: Setback): boolean {
  return last.why !== 'too_large' && last.why !== 'no_room' && (!last.sent || repeatable)
}

/** A kept-alive connection that the upstream closed at that moment says nothing about the route: it may be asked again. */
function isStaleConnection({ why }: Setback, setbacks: readonly Setback[]): boolean {
  return why === 'reset' && setbacks.filter(each => each.why === 'reset').length === 1
}

/** The route for the next attempt once one has room; waits a little for that. */
async function waitForRoom(
  wanted: Wanted,
  tried: readonly string[],
  last: Setback | undefined,
  context: Context,
): Promise<Picked> {
  const patience = performance.now() + WAIT_FOR_ROOM
  for (;;) {
    await pause(LOOK_EVERY)
    const picked = pickNow(wanted, tried, last, context)
    if (picked !== 'full' || performance.now() >= patience) return picked
  }
}

/** The route for the next attempt. After missing state only an archive helps. */
function pickNow(
  { network, row, routes, need }: Wanted,
  tried: readonly string[],
  last: Setback | undefined,
  { live: { upstreams, now } }: Context,
): Picked {
  const archive = last?.why === 'missing_state' ? row.archive.filter(id => !tried.includes(id)) : []
  return upstreams.pick(network, archive.length > 0 ? archive : routes, tried, need, now())
}
