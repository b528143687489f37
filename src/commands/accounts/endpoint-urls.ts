/** The URLs of an endpoint as commands print them. */
interface EndpointUrls {
  readonly httpsUrl: string
  /** Empty where no route of the network has WebSocket. */
  readonly wssUrl: string
}

/** A line for each URL, behind its scheme in capitals, which fills `width`. */
export function urlLines({ httpsUrl, wssUrl }: EndpointUrls, width: number): string[] {
  return [httpsUrl, wssUrl]
    .filter(url => url !== '')
    .map(url => `${url.slice(0, url.indexOf(':')).toUpperCase().padEnd(width)}${url}`)
}
