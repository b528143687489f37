/** What is served, as far as managing accounts has to know it: no route and no secret. */
import type { Network, Snapshot } from '../../snapshot/types.ts'

/** A network as endpoints on it are shown. */
export type ServedNetwork = Pick<Network, 'family' | 'httpsUrl' | 'wssUrl' | 'wss'>

/** Networks by slug, and names of plans. `GET /served` of the admin listener answers with it. */
export interface Served {
  readonly networks: Readonly<Record<string, ServedNetwork>>
  readonly plans: readonly string[]
}

/** What a snapshot serves. */
export function servedOf({ networks, plans }: Snapshot): Served {
  const shown = Object.values(networks).map(({ slug, family, httpsUrl, wssUrl, wss }) => [
    slug,
    { family, httpsUrl, wssUrl, wss },
  ])
  return { networks: Object.fromEntries(shown) as Served['networks'], plans: Object.keys(plans) }
}

/** What a gateway answered; null when it is something else, as an older one has no such path. */
export function readServed(answer: unknown): Served | null {
  const { networks, plans } = (answer ?? {}) as Partial<Served>
  return typeof networks === 'object' && Array.isArray(plans) ? { networks, plans } : null
}
