import type { IncomingHttpHeaders } from 'node:http'

/**
 * Whether a request was made by the dashboard's own page. Browsers say so in Sec-Fetch-Site, which no page can write; over plain
 * HTTP on other hosts than localhost they leave it out, and there the Origin has to be this host.
 */
export function isSameOrigin({ 'sec-fetch-site': site, origin, host }: IncomingHttpHeaders): boolean {
  if (site !== undefined) return site === 'same-origin'
  return origin === `http://${host ?? ''}` || origin === `https://${host ?? ''}`
}
