import type { Network } from '../snapshot/types.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'

/** Words that an account owner asks about on any network, whether some route has them or not. */
const USUAL = ['archive', 'trace', 'debug', 'txpool', 'ws']

/** service_networkStatus: how far each network has come, and how many routes are able and healthy; never which. */
export function networkStatus(params: unknown, _: AccountCaller, deps: ServiceDeps): ServiceReply {
  const read = readParams(params, {}, {})
  if ('error' in read) return read
  return { result: { networks: Object.values(deps.snapshot.networks).map(one => describe(one, deps)) } }
}

function describe(network: Network, { health }: ServiceDeps) {
  const routes = network.routes.map(({ id, capabilities, ws }) => ({
    words: ws === null ? capabilities : [...capabilities, 'ws'],
    healthy: health.isHealthy(network, id),
  }))
  const count = (able: typeof routes) => ({
    routes: able.length,
    healthy: able.filter(({ healthy }) => healthy).length,
  })
  const words = new Set([...USUAL, ...routes.flatMap(({ words }) => words)])
  return {
    slug: network.slug,
    family: network.family,
    head: health.head(network.slug),
    ...count(routes),
    capabilities: Object.fromEntries(
      [...words].map(word => [word, count(routes.filter(({ words }) => words.includes(word)))]),
    ),
  }
}
