/** What a process keeps of routes for the one that comes after it: how quickly networks make blocks, and which are without a route. */
import type { Heads } from '../routes/heads.ts'
import type { StateFile } from '../stores/sqlite/state-file.ts'
import type { Closing } from './closing.ts'
import type { RouteEvents } from '../routes/health/route-watch.ts'

/** How often they are written down, in milliseconds. */
const EVERY = 30_000

/** Has `heads` begin with what is kept, and keeps what is measured from now on. */
export function keepPaces(state: StateFile, heads: Heads, closing: Closing): void {
  const kept = Object.entries(state.read('paces') ?? {})
  heads.expect(
    new Map(kept.filter((pace): pace is [string, number] => typeof pace[1] === 'number' && pace[1] > 0)),
  )
  const keep = async (): Promise<void> => {
    const paces = heads.paces()
    if (paces.size > 0) await state.keep('paces', Object.fromEntries(paces))
  }
  const timer = setInterval(() => void keep(), EVERY).unref()
  closing.push(() => {
    clearInterval(timer)
    return keep()
  })
}

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
