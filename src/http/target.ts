/** What a host and path ask for (design, "HTTP contract"). Parsed by hand: `new URL` throws on some of it. */
import { familyOf } from '../families/families.ts'
import type { Network, Snapshot } from '../snapshot/types.ts'
import { isOwnAddress } from './own-address.ts'

export type Target =
  | {
      readonly kind: 'rpc'
      readonly network: Network
      readonly key: string
      /** What stands behind the key on a verbatim HTTP network, as it was sent; empty is the JSON-RPC door. */
      readonly path: string
      /** With its `?`; empty where there is none. */
      readonly query: string
    }
  | { readonly kind: 'page'; readonly path: string }
  | { readonly kind: 'nothing' }

const NOTHING: Target = { kind: 'nothing' }

/** The last header and its name: most of the time the next request has the same. */
let last = { header: '', name: '' }

/** The host name of a Host header: lower case, without port and one trailing dot. */
export function hostName(header: string): string {
  if (header !== last.header) last = { header, name: readHostName(header) }
  return last.name
}

function readHostName(header: string): string {
  const name = header.toLowerCase().replace(/:\d*$/, '')
  return name.endsWith('.') ? name.slice(0, -1) : name
}

/** A host and what is asked of it. */
export interface Asked {
  readonly host: string
  /** Path and query. */
  readonly url: string
}

/** Splits a request target: in the absolute form its host counts, whatever Host says (RFC 9112, section 3.2.2). */
export function askedFor(hostHeader: string, target: string): Asked {
  // Nearly every target is a path.
  if (target.startsWith('/')) return { host: hostHeader, url: target }
  const [, authority, rest = ''] = ABSOLUTE.exec(target) ?? []
  if (authority === undefined) return { host: hostHeader, url: target }
  return { host: authority, url: rest.startsWith('/') ? rest : `/${rest}` }
}

const ABSOLUTE = /^https?:\/\/([^/?#]*)(.*)$/is

/** The host and port in a target of the absolute form; null for any other. */
export function authorityOf(target: string): string | null {
  return ABSOLUTE.exec(target)?.[1] ?? null
}

/** Finds what `url` (path and query) on a host stands for; `arrival` is where the connection came in. */
export function findTarget(
  hostHeader: string,
  url: string,
  snapshot: Snapshot,
  arrival: { readonly localAddress?: string | undefined } = {},
): Target {
  const host = hostName(hostHeader)
  const query = url.indexOf('?')
  const path = query < 0 ? url : url.slice(0, query)
  const rest = query < 0 ? '' : url.slice(query)
  const slug = snapshot.hosts[host]
  const network = slug === undefined ? undefined : snapshot.networks[slug]
  if (network !== undefined) return rpcTarget(network, path, rest)
  const second = path.indexOf('/', 1)
  const named = path.startsWith('/') && second > 0 ? snapshot.networks[path.slice(1, second)] : undefined
  if (named !== undefined) return rpcTarget(named, path.slice(second), rest)
  const isBase = snapshot.baseHosts.includes(host) || isOwnAddress(host, arrival.localAddress)
  return isBase ? { kind: 'page', path } : NOTHING
}

const PREFIX = '/v1/rpc'
const DOOR = `${PREFIX}/`

/** `/v1/rpc/<key>` with one trailing slash at most; an absent key is an empty one. */
function rpcTarget(network: Network, path: string, query: string): Target {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  if (trimmed === PREFIX) return { kind: 'rpc', network, key: '', path: '', query }
  if (!trimmed.startsWith(DOOR)) return NOTHING
  const key = trimmed.slice(DOOR.length)
  const end = key.indexOf('/')
  if (end < 0) return { kind: 'rpc', network, key, path: '', query }
  if (familyOf(network).wire !== 'http') return NOTHING
  return { kind: 'rpc', network, key: key.slice(0, end), path: path.slice(PREFIX.length + 1 + end), query }
}
