/**
 * The head of a request: what its host and path ask for (design, "HTTP contract"), and what Node's parser lets through that a second reader
 * could take for another request (RFC 9112). Parsed by hand: `new URL` throws on some of it.
 */
import { familyOf } from '../families/families.ts'
import type { Network, Snapshot } from '../snapshot/types.ts'
import { isIPv6, isIP } from 'node:net'
import ipaddr from 'ipaddr.js'
import type { IncomingMessage } from 'node:http'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'

export type Target =
  | {
      readonly kind: 'rpc'
      readonly network: Network
      readonly key: string
      /** What stands behind the key on a verbatim HTTP network, as it was sent; empty is where JSON-RPC is spoken. */
      readonly path: string
      /** With its `?`; empty where there is none. */
      readonly query: string
    }
  | { readonly kind: 'page'; readonly path: string }
  | { readonly kind: 'nothing' }

const NOTHING: Target = { kind: 'nothing' }

/** The lastName header and its name: most of the time the next request has the same. */
let lastName = { header: '', name: '' }

/** The host name of a Host header: lower case, without port and one trailing dot. */
export function hostName(header: string): string {
  if (header !== lastName.header) lastName = { header, name: readHostName(header) }
  return lastName.name
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
const KEY_PREFIX = `${PREFIX}/`

/** `/v1/rpc/<key>` with one trailing slash at most; an absent key is an empty one. */
function rpcTarget(network: Network, path: string, query: string): Target {
  const trimmed = path.endsWith('/') ? path.slice(0, -1) : path
  if (trimmed === PREFIX) return { kind: 'rpc', network, key: '', path: '', query }
  if (!trimmed.startsWith(KEY_PREFIX)) return NOTHING
  const key = trimmed.slice(KEY_PREFIX.length)
  const end = key.indexOf('/')
  if (end < 0) return { kind: 'rpc', network, key, path: '', query }
  if (familyOf(network).wire !== 'http') return NOTHING
  return { kind: 'rpc', network, key: key.slice(0, end), path: path.slice(PREFIX.length + 1 + end), query }
}

// A port may be empty (RFC 3986, section 3.2.3).
const NAME = /^[A-Za-z0-9_-][A-Za-z0-9._-]*(?::([1-9]\d{0,4})?)?$/
const LITERAL = /^\[([0-9A-Fa-f:.]+)\](?::([1-9]\d{0,4})?)?$/
const MAX_LENGTH = 260
const MAX_PORT = 65_535

/** The lastHost valid one: most of the time the next request has the same. */
let lastHost = 'localhost'

/** Whether a text is `host[:port]` and nothing else: lists, user information, paths and blanks mean different hosts to different readers. */
export function isHost(text: string): boolean {
  if (text === lastHost) return true
  if (text.length > MAX_LENGTH) return false
  const literal = LITERAL.exec(text)
  const match = literal ?? NAME.exec(text)
  if (match === null) return false
  if (literal !== null && !isIPv6(literal[1] ?? '')) return false
  const port = literal === null ? match[1] : match[2]
  if (port !== undefined && Number(port) > MAX_PORT) return false
  lastHost = text
  return true
}

/**
 * Whether a host is written as an address of this machine: a loopback one, or that at which the connection came in. No name that somebody else
 * points here is one.
 */
export function isOwnAddress(host: string, localAddress: string | undefined): boolean {
  const bare = host.startsWith('[') && host.endsWith(']') ? host.slice(1, -1) : host
  if (isIP(bare) === 0) return false
  const ip = ipaddr.process(bare)
  return (
    ip.range() === 'loopback' || (localAddress !== undefined && ip.toString() === addressOf(localAddress))
  )
}

function addressOf(text: string): string {
  return isIP(text) === 0 || text.includes('%') ? text : ipaddr.process(text).toString()
}

/** Header lines of one request; the parser itself would drop what is above its bound without a word. */
export const MAX_HEADERS = 100

/** A head that is not served: the connection ends with the answer. */
export interface HeadFault {
  readonly refusal: Refusal
  readonly status: number
}

/** What is wrong with the head of a request; null when nothing is. */
export function headFault(request: IncomingMessage): HeadFault | null {
  const { httpVersion, rawHeaders, headers } = request
  if (httpVersion !== '1.1' && httpVersion !== '1.0') return fault('Send HTTP/1.1', 505)
  if (rawHeaders.length > 2 * MAX_HEADERS) return fault(`Send at most ${MAX_HEADERS} header lines`, 431)
  if (hostsIn(rawHeaders) !== 1) return fault('Send exactly one Host header')
  const { 'transfer-encoding': encoding, expect, host = '' } = headers
  if (!isHost(host)) return fault('The Host header is not host[:port]')
  const target = targetFault(request.url ?? '')
  if (target !== null) return target
  if (encoding !== undefined) {
    if (httpVersion === '1.0') return fault('HTTP/1.0 has no Transfer-Encoding')
    if (encoding.toLowerCase() !== 'chunked') return fault('The only Transfer-Encoding is chunked')
  }
  if (expect !== undefined && httpVersion === '1.1' && expect.toLowerCase() !== '100-continue')
    return fault('The only expectation that is met is 100-continue', 417)
  return null
}

/** A target is a path, or a URL whose host is read as the Host header is; a fragment never belongs in it (RFC 9112, section 3.2). */
function targetFault(target: string): HeadFault | null {
  if (target.includes('#')) return fault('A request target has no fragment')
  if (target.startsWith('/')) return null
  const authority = authorityOf(target)
  return authority === null || isHost(authority) ? null : fault('The host of the target is not host[:port]')
}

function fault(sentence: string, status = 400): HeadFault {
  return { refusal: refuse('invalid_request', sentence), status }
}

function hostsIn(rawHeaders: readonly string[]): number {
  let hosts = 0
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] ?? ''
    if (name.length === 4 && name.toLowerCase() === 'host') hosts += 1
  }
  return hosts
}
