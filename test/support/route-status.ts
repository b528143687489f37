import type { Gateway } from './gateway.ts'
import { until } from './until.ts'

/** A route as the admin listener's /status shows it. */
export interface RouteStatus {
  readonly id: string
  readonly healthy: boolean
  /** Why it is not. */
  readonly why?: string
  readonly head: number | null
  /** Blocks behind the best healthy head. */
  readonly lag: number | null
  readonly latencyMs: number
  readonly inFlight: number
  readonly retryInMs?: number
  readonly keptAwayCallers?: number
  /** Calls of a batch that go to it in one body, and why they go one by one for now. */
  readonly batch?: number
  readonly refusesBatches?: string
  readonly lastError?: string
}

/** All routes of all networks. */
export async function routesOf(gateway: Gateway): Promise<readonly RouteStatus[]> {
  const { networks }: { networks: readonly { readonly routes: readonly RouteStatus[] }[] } =
    await gateway.status()
  return networks.flatMap(({ routes }) => routes)
}

/** Resolves when the gateway knows how far each of its routes is behind; `except` names those that do not tell. */
export async function routesLookedAt(gateway: Gateway, except: readonly string[] = []): Promise<void> {
  await until('every route has been looked at', async () => {
    const routes = await routesOf(gateway)
    return routes.every(({ id, lag }) => lag !== null || except.includes(id))
  })
}
