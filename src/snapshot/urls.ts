/** The public URLs of networks, from `baseUrl` with `{subdomain}` in its host or `{slug}` in its path. */
import { trimSlashes } from '../net/http-path.ts'

interface Named {
  readonly slug: string
  readonly subdomain: string
}

/** URL of a network without a trailing slash; API paths are put behind it. */
export function networkUrl(baseUrl: string, network: Named): string {
  return trimSlashes(baseUrl.replace('{subdomain}', network.subdomain).replace('{slug}', network.slug))
}

/** The same URL for WebSocket: http becomes ws, https wss (RFC 6455, section 3). */
export function socketUrl(httpsUrl: string): string {
  return httpsUrl.replace(/^http/, 'ws')
}

/** The host name a network has for itself; null when networks share one host and differ in the path. */
export function hostOf(baseUrl: string, network: Named): string | null {
  if (!baseUrl.includes('{subdomain}')) return null
  return new URL(networkUrl(baseUrl, network)).hostname.toLowerCase()
}
