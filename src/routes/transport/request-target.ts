/** Where a route's requests go, and with which headers. */
import type { Route } from '../../snapshot/types.ts'

/** The parts of a request that are the same for every call. */
export interface RequestTarget {
  readonly origin: string
  readonly path: string
  readonly headers: Record<string, string>
}

/** Splits a route's URL; the headers are those of a JSON-RPC call. */
export function requestTarget(route: Pick<Route, 'http' | 'headers'>): RequestTarget {
  const { origin, pathname, search } = new URL(route.http)
  const headers = {
    ...operatorHeaders(route),
    'content-type': 'application/json',
    accept: 'application/json',
  }
  return { origin, path: pathname + search, headers }
}

/** The headers that the operator sends along; a user in the URL becomes Basic authentication (RFC 7617) unless one says otherwise. */
export function operatorHeaders({ http, headers }: Pick<Route, 'http' | 'headers'>): Record<string, string> {
  const url = new URL(http)
  const given = Object.keys(headers).some(name => name.toLowerCase() === 'authorization')
  return url.username !== '' && !given ? { ...headers, authorization: basicAuth(url) } : { ...headers }
}

function basicAuth(url: URL): string {
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
