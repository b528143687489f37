/** What is served, as far as managing accounts has to know it: no route and no secret. */
import type { Network, Plan, Snapshot } from '../../snapshot/types.ts'

/** A network as endpoints on it are shown. */
export type ServedNetwork = Pick<Network, 'family' | 'httpsUrl' | 'wssUrl' | 'wss'>

/** The limits of a plan. */
export type ServedPlan = Pick<Plan, 'rate' | 'quota'>

/** Networks by slug, and plans by name. `GET /served` of the admin listener answers with it. */
export interface Served {
  readonly networks: Readonly<Record<string, ServedNetwork>>
  readonly plans: Readonly<Record<string, ServedPlan>>
}

/** What a snapshot serves. */
export function servedOf({ networks, plans }: Snapshot): Served {
  const shown = Object.values(networks).map(({ slug, family, httpsUrl, wssUrl, wss }) => [
    slug,
    { family, httpsUrl, wssUrl, wss },
  ])
  const limits = Object.entries(plans).map(([name, { rate, quota }]) => [name, { rate, quota }])
  return {
    networks: Object.fromEntries(shown) as Served['networks'],
    plans: Object.fromEntries(limits) as Served['plans'],
  }
}

/** What a gateway answered; null when it is something else. */
export function readServed(answer: unknown): Served | null {
  const { networks, plans } = (answer ?? {}) as Partial<Served>
  return typeof networks === 'object' && typeof plans === 'object' ? { networks, plans } : null
}
