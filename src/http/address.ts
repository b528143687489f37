/** Where a request comes from. */
import type { IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import ipaddr from 'ipaddr.js'
import { inRange, parseRange } from '../net/address-range.ts'
import type { AddressRange } from '../net/address-range.ts'
import { connectionOf } from './connection.ts'
import type { ClientAddress } from './connection.ts'
import type { Gateway } from '../call/gateway.ts'

/** Longest X-Forwarded-For that is walked, in hops from the right. */
const MAX_HOPS = 100

/** Reads client addresses behind the proxies that are believed. */
export function addressReader(
  trustedProxies: readonly string[],
): (request: IncomingMessage) => ClientAddress {
  const ranges = trustedProxies.map(parseRange)
  return request => {
    if (ranges.length === 0) return peerAddress(request.socket)
    const peer = request.socket.remoteAddress ?? NOBODY
    const forwarded = request.headers['x-forwarded-for']
    const hops = typeof forwarded === 'string' ? forwarded.split(',') : []
    return clientAddress(walkFromRight(peer, hops.slice(-MAX_HOPS), ranges))
  }
}

/** What stands for the address of a connection that is gone. */
const NOBODY = '0.0.0.0'

/** The other end of a connection, read once. */
function peerAddress(socket: Socket): ClientAddress {
  return (connectionOf(socket).address ??= clientAddress(socket.remoteAddress ?? NOBODY))
}

/** The right-most address that is no trusted proxy; what stands left of it anybody can write. */
function walkFromRight(peer: string, hops: readonly string[], ranges: readonly AddressRange[]): string {
  let address = peer
  for (const proxy of hops.toReversed()) {
    if (!ranges.some(range => inRange(address, range))) return address
    const next = writtenAddress(proxy.trim())
    if (next === null) return address
    address = next
  }
  return address
}

/** An address as proxies write it: `1.2.3.4`, `1.2.3.4:567`, `::1`, `[::1]`, `[::1]:567`; never octal or shortened IPv4. */
function writtenAddress(proxy: string): string | null {
  const [, bracketed, dotted] = /^\[([^\]]*)\](?::\d{1,5})?$|^([\d.]+)(?::\d{1,5})?$/.exec(proxy) ?? []
  const text = bracketed ?? dotted ?? proxy
  if (bracketed === undefined && ipaddr.IPv4.isValidFourPartDecimal(text)) return text
  return text.includes(':') && ipaddr.IPv6.isValid(text) ? text : null
}

/** A valid address in its one form, with what limits count. */
export function clientAddress(address: string): ClientAddress {
  if (!address.includes(':')) return { address, limitAddress: address }
  const ip = ipaddr.process(address)
  if (!(ip instanceof ipaddr.IPv6)) return { address: ip.toString(), limitAddress: ip.toString() }
  const network = [...ip.parts.slice(0, 4), 0, 0, 0, 0]
  return { address: ip.toString(), limitAddress: `${new ipaddr.IPv6(network).toString()}/64` }
}

/** Where proxies of an operator are (IANA's special-purpose registries, as ipaddr.js names them). */
const NEAR: ReadonlySet<string> = new Set([
  'loopback',
  'private',
  'carrierGradeNat',
  'linkLocal',
  'uniqueLocal',
])

/** Reads addresses; a reload that changes the proxies is followed. */
export class Addresses {
  readonly #gateway: Gateway
  readonly #onIgnored: (peer: string) => void
  /** Whether a proxy that nobody trusts was reported since the last edit of trustedProxies. */
  #isReported = false
  #proxies: readonly string[] = []
  #read = addressReader([])
  #ranges = [] as ReturnType<typeof parseRange>[]

  /** `onIgnored` is called once with a peer on a private network whose X-Forwarded-For is ignored. */
  constructor(gateway: Gateway, onIgnored: (peer: string) => void = () => undefined) {
    this.#gateway = gateway
    this.#onIgnored = onIgnored
  }

  /** Where a request comes from. */
  of(request: IncomingMessage): ClientAddress {
    this.#follow()
    const from = this.#read(request)
    if (!this.#isReported && request.headers['x-forwarded-for'] !== undefined)
      this.#reportProxy(from.address, request.socket)
    return from
  }

  /** Whether a connection's other end is a proxy that speaks for many clients. */
  isProxy(peer: string): boolean {
    this.#follow()
    return this.#ranges.some(range => inRange(peer, range))
  }

  /** Anybody can send the header; a proxy of the operator is on this machine or in its network. */
  #reportProxy(from: string, socket: Socket): void {
    const peer = peerAddress(socket).address
    if (peer !== from || !NEAR.has(ipaddr.process(peer).range()) || this.isProxy(peer)) return
    this.#isReported = true
    this.#onIgnored(peer)
  }

  #follow(): void {
    const { trustedProxies } = this.#gateway.snapshot.gateway
    if (trustedProxies === this.#proxies) return
    this.#proxies = trustedProxies
    this.#isReported = false
    this.#read = addressReader(trustedProxies)
    this.#ranges = trustedProxies.map(parseRange)
  }
}
