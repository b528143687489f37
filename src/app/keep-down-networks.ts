/** Keeps which networks are without a route: a keeper that follows another one alarms for none twice, and ends what that one began. */
import type { RouteEvents } from '../routes/health/route-watch.ts'
import type { StateFile } from '../stores/sqlite/state-file.ts'

type NetworkEvents = Pick<RouteEvents, 'networkDown' | 'networkUp'>

/** Since when each is down, in milliseconds of the epoch. */
type Kept = Readonly<Record<string, number>>

/** What the keeper before has left. */
export interface DownNetworks {
  /** For how many milliseconds each was down; null where no keeper was there before. */
  readonly before: ReadonlyMap<string, number> | null
  /** Has what is heard of networks from now on kept, and then told. */
  readonly heard: <E extends NetworkEvents>(events: E) => E
}

/** `there` is how many workers serve already: they have a keeper behind them. */
export function keepDownNetworks(state: StateFile, there: number): DownNetworks {
  const since = new Map(Object.entries((state.read('networksDown') ?? {}) as Kept))
  const keep = (): Promise<void> => state.keep('networksDown', Object.fromEntries(since) satisfies Kept)
  const now = Date.now()
  const downFor = [...since].map(([slug, at]) => [slug, Math.max(0, now - at)] as const)
  return {
    before: there === 0 && since.size === 0 ? null : new Map(downFor),
    heard: events => ({
      ...events,
      networkDown: (slug, why) => {
        since.set(slug, Date.now())
        void keep().then(() => {
          events.networkDown(slug, why)
        })
      },
      networkUp: (slug, ms) => {
        since.delete(slug)
        void keep().then(() => {
          events.networkUp(slug, ms)
        })
      },
    }),
  }
}
