import { emptyRecord } from '../record.ts'
import type { History, RouteConfig } from '../types.ts'
import { duration } from '../words/units.ts'
import type { RawRoute } from '../raw-config.ts'
import { buildErrors } from './errors.ts'

/** The routes with their defaults, in the order of the file. */
export function buildRoutes(routes: readonly RawRoute[]): RouteConfig[] {
  return routes.map(route => ({
    id: route.id,
    network: route.network,
    http: route.http,
    ws: route.ws ?? null,
    capabilities: route.capabilities ?? [],
    history: buildHistory(route.history),
    priority: route.priority ?? 1,
    weight: route.weight ?? 1,
    headers: route.headers ?? emptyRecord<string>(),
    timeout: route.timeout === undefined ? null : duration(route.timeout),
    limits: { inFlight: route.limits?.inFlight ?? null, perSecond: route.limits?.perSecond ?? null },
    batch: route.batch ?? 1,
    methods: { allow: route.methods?.allow ?? null, deny: route.methods?.deny ?? [] },
    errors: buildErrors(route.errors),
    private: route.private ?? false,
    trace: route.trace ?? false,
    enabled: route.enabled ?? true,
  }))
}

function buildHistory(history: RawRoute['history']): History | null {
  const { from, last } = history ?? {}
  if (from !== undefined) return { from, last: null }
  return last === undefined ? null : { from: null, last }
}
