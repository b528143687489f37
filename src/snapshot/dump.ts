/** The snapshot for an operator's eyes. */
import type { Snapshot } from './types.ts'

/** A copy of the snapshot without its secrets: upstream URLs, header values, the webhook and the URLs of the stores. */
export function dump(snapshot: Snapshot): unknown {
  const networks = Object.entries(snapshot.networks).map(([slug, network]) => [
    slug,
    { ...network, routes: network.routes.map(hideSecrets) },
  ])
  const { alerts } = snapshot.gateway
  const webhook = alerts.webhook === null ? null : { url: '(hidden)', secret: '(hidden)' }
  const { postgres, redis } = snapshot.gateway
  const gateway = {
    ...snapshot.gateway,
    alerts: { ...alerts, webhook },
    postgres: postgres === null ? null : { ...postgres, url: '(hidden)' },
    redis: redis === null ? null : { ...redis, urls: redis.urls.map(() => '(hidden)') },
  }
  return { ...snapshot, networks: Object.fromEntries(networks) as unknown, gateway }
}

function hideSecrets(route: {
  http: string
  ws: string | null
  headers: Readonly<Record<string, string>>
}): unknown {
  const headers = Object.fromEntries(Object.keys(route.headers).map(name => [name, '(hidden)']))
  return { ...route, http: '(hidden)', ws: route.ws === null ? null : '(hidden)', headers }
}
