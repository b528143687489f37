/** Keeps which networks are without a route: a keeper that follows another one alarms for none twice, and ends what that one began. */
import type { RouteEvents } from '../../routes/health/route-watch.ts'
import type { KeeperRole } from '../../workers/role.ts'
import { keepForNext, readKept } from './kept-for-next.ts'
import { stateFile } from '../../stores/sqlite/data-dir.ts'

type NetworkEvents = Pick<RouteEvents, 'networkDown' | 'networkUp'>

/** The file: since when, in milliseconds of the epoch, by network. */
interface Kept {
  readonly since: Readonly<Record<string, number>>
}

/** What the keeper before has left. */
export interface DownNetworks {
  /** For how many milliseconds each was down; null where no keeper was there before. */
  readonly before: ReadonlyMap<string, number> | null
  /** Has what is heard of networks from now on kept too. */
  readonly heard: <E extends NetworkEvents>(events: E) => E
}

/** Reads the file of the keeper before. */
export function keepDownNetworks(
  dataDir: string,
  { gateway, there = 0 }: Pick<KeeperRole, 'gateway' | 'there'>,
): DownNetworks {
  const file = stateFile(dataDir, 'networks-down.json')
  const kept = readKept(file, gateway) as Kept | null
  const since = new Map(Object.entries(kept?.since ?? {}))
  const keep = (): void => {
    keepForNext(file, gateway, { since: Object.fromEntries(since) } satisfies Kept)
  }
  const now = Date.now()
  const downFor = [...since].map(([slug, at]) => [slug, Math.max(0, now - at)] as const)
  return {
    // Workers that serve have a keeper behind them.
    before: there === 0 && since.size === 0 ? null : new Map(downFor),
    heard: events => ({
      ...events,
      networkDown: (slug, why) => {
        since.set(slug, Date.now())
        keep()
        events.networkDown(slug, why)
      },
      networkUp: (slug, ms) => {
        since.delete(slug)
        keep()
        events.networkUp(slug, ms)
      },
    }),
  }
}
