/** The URLs of an endpoint as commands print them. */
interface EndpointUrls {
  /** The slug of its network. */
  readonly chain: string
  readonly httpsUrl: string
  /** Empty where no route of the network has WebSocket. */
  readonly wssUrl: string
}

/**
 * A line for each URL, behind its scheme in capitals, which fills `width`. Not every client resolves names below
 * `localhost`, so such URLs follow their path form.
 */
export function urlLines({ chain, httpsUrl, wssUrl }: EndpointUrls, width: number): string[] {
  const urls = [httpsUrl, wssUrl].filter(url => url !== '')
  return [...urls.flatMap(url => pathForm(url, chain) ?? []), ...urls].map(
    url => `${url.slice(0, url.indexOf(':')).toUpperCase().padEnd(width)}${url}`,
  )
}

/** The URL with the network in its path, for a host below `localhost`; null for another host. */
export function pathForm(text: string, slug: string): string | null {
  const url = new URL(text)
  if (!url.hostname.endsWith('.localhost')) return null
  url.hostname = '127.0.0.1'
  url.pathname = `/${slug}${url.pathname}`
  return url.href
}
