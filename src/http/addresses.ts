/** Client addresses by the trusted proxies of now. */
import type { IncomingMessage } from 'node:http'
import { inRange, parseRange } from '../net/address-range.ts'
import type { Gateway } from '../call/gateway.ts'
import { addressReader } from './address.ts'
import type { ClientAddress } from './connection.ts'

/** Reads addresses; a reload that changes the proxies is followed. */
export class Addresses {
  readonly #gateway: Gateway
  #proxies: readonly string[] = []
  #read = addressReader([])
  #ranges = [] as ReturnType<typeof parseRange>[]

  constructor(gateway: Gateway) {
    this.#gateway = gateway
  }

  /** Where a request comes from. */
  of(request: IncomingMessage): ClientAddress {
    this.#follow()
    return this.#read(request)
  }

  /** Whether a connection's other end is a proxy that speaks for many clients. */
  isProxy(peer: string): boolean {
    this.#follow()
    return this.#ranges.some(range => inRange(peer, range))
  }

  #follow(): void {
    const { trustedProxies } = this.#gateway.snapshot.gateway
    if (trustedProxies === this.#proxies) return
    this.#proxies = trustedProxies
    this.#read = addressReader(trustedProxies)
    this.#ranges = trustedProxies.map(parseRange)
  }
}
