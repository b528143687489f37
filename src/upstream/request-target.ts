/** Where a route's requests go, and with which headers. */
import type { Route } from '../snapshot/types.ts'

/** The parts of a request that are the same for every call. */
export interface RequestTarget {
  readonly origin: string
  readonly path: string
  readonly headers: Record<string, string>
}

/** Splits a route's URL; a user in it becomes Basic authentication (RFC 7617) unless a header says otherwise. */
export function requestTarget(route: Pick<Route, 'http' | 'headers'>): RequestTarget {
  const url = new URL(route.http)
  const headers: Record<string, string> = {
    ...route.headers,
    'content-type': 'application/json',
    accept: 'application/json',
  }
  const given = Object.keys(route.headers).some(name => name.toLowerCase() === 'authorization')
  if (url.username !== '' && !given) headers['authorization'] = basicAuth(url)
  return { origin: url.origin, path: url.pathname + url.search, headers }
}

function basicAuth(url: URL): string {
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
