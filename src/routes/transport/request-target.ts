/** Where a route's requests go, and with which headers. */
import { isIP } from 'node:net'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Route } from '../../snapshot/types.ts'

/** The parts of a request that are the same for every call. */
export interface RequestTarget {
  readonly origin: string
  /** The host in the operator's headers, which requests are for and certificates have to be; null where that is the host of the URL. */
  readonly servername: string | null
  /** Path and query. */
  readonly path: string
  /** Header lines, each with its line break. */
  readonly fields: Raw
}

/** What is ours to say of a call, and of a question of our own on a network where the operator's headers may say otherwise of clients' requests. */
const OURS = { connection: 'keep-alive', 'content-type': 'application/json', accept: 'application/json' }

/** Splits a route's URL; the headers are those of a JSON-RPC call. */
export function requestTarget(route: Pick<Route, 'http' | 'headers'>): RequestTarget {
  const { origin, host, pathname, search } = new URL(route.http)
  const own = Object.entries(operatorHeaders(route)).filter(
    ([name]) => !Object.hasOwn(OURS, name.toLowerCase()),
  )
  const theirs = own.find(([name]) => name.toLowerCase() === 'host')?.[1]
  const headers = [...(theirs === undefined ? [['host', host]] : []), ...own, ...Object.entries(OURS)]
  // Names and values are checked with the configuration, as names and as lines; what would end a request elsewhere is refused there.
  const fields = headers.map(([name, value]) => `${name!}: ${value!}\r\n`).join('')
  const [name = ''] = (theirs ?? '').trim().split(':', 1)
  const servername = /^[\w.-]+$/.test(name) && isIP(name) === 0 ? name : null
  return { origin, servername, path: pathname + search, fields }
}

/** The headers that the operator sends along; a user in the URL becomes Basic authentication (RFC 7617) unless one says otherwise. */
export function operatorHeaders({ http, headers }: Pick<Route, 'http' | 'headers'>): Record<string, string> {
  const url = new URL(http)
  const isGiven = Object.keys(headers).some(name => name.toLowerCase() === 'authorization')
  // Some providers know a project by its password alone.
  const hasUser = url.username !== '' || url.password !== ''
  return hasUser && !isGiven ? { ...headers, authorization: basicAuth(url) } : { ...headers }
}

function basicAuth(url: URL): string {
  const pair = `${decodeURIComponent(url.username)}:${decodeURIComponent(url.password)}`
  return `Basic ${Buffer.from(pair).toString('base64')}`
}
