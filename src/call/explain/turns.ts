/** Says of each route when a call would come to it. */
import type { Network, Route } from '../../snapshot/types.ts'
import type { LastFailure } from '../../routes/health/breaker.ts'
import type { LiveCache } from './cached.ts'
import type { Need } from '../../routes/pick.ts'
import type { HeldTo } from '../../routes/health/pace.ts'
import type { LackedBy } from '../../routes/unsupported.ts'

/** What is known of the routes of a network while the gateway runs. */
export interface LiveView {
  /** Why calls keep away from a route now, or null; `tip` is whether they are about the newest block. */
  whyNot(id: string, tip: boolean): string | null
  /** Why no call can count on a route now: it does not answer, or not for us; null while it does. */
  whyDown(id: string): string | null
  /** Who passes over a route because it answered that it does not have the method; null when nobody does. */
  lackedBy(id: string, method: string): LackedBy | null
  /** What the route is held to after an HTTP 429; null when it is not. */
  heldTo(id: string): HeldTo | null
  /** Why calls go to the route one by one although routes.yaml allows several in one body; null where they do not have to. */
  refusesBatches(id: string): string | null
  /** What failed last at a route, and how many milliseconds ago; null when something was answered since. */
  lastFailure(id: string): LastFailure | null
  /** Why a route can carry no subscription now although it answers calls, or null. */
  whyNoSocket(id: string): string | null
  /** Why a call passes over a route that is well, or null. */
  waits(id: string, need: Need): string | null
  /** Between which of `ids` the next attempt is decided; `full` when all are at their limits, `none` when none can. */
  contenders(ids: readonly string[], need: Need): readonly string[] | 'full' | 'none'
  /** Oldest block or slot that the route keeps, where that is known. */
  firstKept(id: string): number | null
  /** Last block or slot that the route told. */
  head(id: string): number | null
  readonly cache: LiveCache
}

/** When a call comes to a route. */
export interface Turn {
  readonly id: string
  /** next: it may get the call now; later: when the next ones cannot; never: by configuration, or while it is ill. */
  readonly when: 'next' | 'later' | 'never'
  readonly priority: number
  readonly weight: number
  readonly head: number | null
  readonly lastFailure: LastFailure | null
  /** Who passes over it because it answered that it does not have the method; null when nobody does. */
  readonly lackedBy: LackedBy | null
  /** What it is held to after an HTTP 429; null when it is not. */
  readonly heldTo: HeldTo | null
  /** Calls of one client's batch that may go to it in one body, and why they go one by one for now. */
  readonly batch: number
  readonly refusesBatches: string | null
  /** Why it is passed over although it could serve, where that is not its priority. */
  readonly waits: string | null
}

/** How the call stands with the routes as a whole. */
export interface Turns {
  /** full: all are at their limits; none: nothing can serve now. */
  readonly state: 'open' | 'full' | 'none'
  readonly routes: readonly Turn[]
}

/** The turns of a network's routes for a call that `ids` are able to serve. */
export function turnsOf(
  { routes }: Pick<Network, 'routes'>,
  ids: readonly string[],
  method: string,
  need: Need,
  live: LiveView | null,
): Turns {
  const able = routes.filter(({ id }) => ids.includes(id))
  const lackedBy = (id: string): LackedBy | null => live?.lackedBy(id, method) ?? null
  const found = live === null ? byPriority(able) : contendersOf(ids, lackedBy, need, live)
  const next = typeof found === 'string' ? [] : found
  return {
    state: typeof found === 'string' ? found : next.length === 0 ? 'none' : 'open',
    routes: routes.map(({ id, priority, weight, batch }) => ({
      id,
      priority,
      weight,
      batch,
      when: next.includes(id) ? 'next' : ids.includes(id) ? 'later' : 'never',
      head: live?.head(id) ?? null,
      lastFailure: live?.lastFailure(id) ?? null,
      lackedBy: lackedBy(id),
      heldTo: live?.heldTo(id) ?? null,
      refusesBatches: live?.refusesBatches(id) ?? null,
      waits: ids.includes(id) && !next.includes(id) ? (live?.waits(id, need) ?? null) : null,
    })),
  }
}

/** Routes that lack the method come last, as for a call. */
function contendersOf(
  ids: readonly string[],
  lackedBy: (id: string) => LackedBy | null,
  need: Need,
  live: LiveView,
): ReturnType<LiveView['contenders']> {
  const having = ids.filter(id => lackedBy(id) !== 'everybody')
  const found = live.contenders(having, need)
  return found === 'none' && having.length < ids.length ? live.contenders(ids, need) : found
}

function byPriority(able: readonly Route[]): string[] {
  const first = Math.min(...able.map(({ priority }) => priority))
  return able.filter(({ priority }) => priority === first).map(({ id }) => id)
}
