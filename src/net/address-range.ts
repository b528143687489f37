/** Addresses and CIDRs, as operators and owners write them. IPv4 written as IPv6 counts as IPv4. */
import ipaddr from 'ipaddr.js'

/** A parsed range; keep it where the same range is asked often. */
export type AddressRange = readonly [network: ipaddr.IPv4 | ipaddr.IPv6, bits: number]

/** Parses a valid address or CIDR. */
export function parseRange(written: string): AddressRange {
  if (!written.includes('/')) {
    const ip = ipaddr.process(written)
    return [ip, ip.kind() === 'ipv4' ? 32 : 128]
  }
  const [network, bits] = ipaddr.parseCIDR(written)
  if (!(network instanceof ipaddr.IPv6) || !network.isIPv4MappedAddress()) return [network, bits]
  return [network.toIPv4Address(), Math.max(0, bits - 96)]
}

/** Whether a valid address lies in the range. */
export function inRange(address: string, [network, bits]: AddressRange): boolean {
  const ip = ipaddr.process(address)
  return network.kind() === ip.kind() && ip.match([network, bits] as [ipaddr.IPv4, number])
}

/** Many ranges, prepared so that asking whether an address lies in any of them parses nothing but the address. */
export interface AddressSet {
  /** Networks and masks as 32-bit integers. */
  readonly v4: readonly (readonly [network: number, mask: number])[]
  readonly v6: readonly (readonly [network: ipaddr.IPv6, bits: number])[]
}

/** Parses valid addresses and CIDRs. */
export function parseSet(written: readonly string[]): AddressSet {
  const v4: (readonly [number, number])[] = []
  const v6: (readonly [ipaddr.IPv6, number])[] = []
  for (const range of written) {
    const [network, bits] = parseRange(range)
    if (network instanceof ipaddr.IPv6) v6.push([network, bits])
    else {
      // A shift by 32 bits is one by none.
      const mask = bits === 0 ? 0 : -1 << (32 - bits)
      v4.push([toInteger(network) & mask, mask])
    }
  }
  return { v4, v6 }
}

/** Whether a valid address lies in one of the ranges. */
export function inSet(address: string, { v4, v6 }: AddressSet): boolean {
  const ip = ipaddr.process(address)
  if (ip instanceof ipaddr.IPv6) return v6.some(([network, bits]) => ip.match(network, bits))
  const value = toInteger(ip)
  return v4.some(([network, mask]) => (value & mask) === network)
}

function toInteger({ octets }: ipaddr.IPv4): number {
  const [a = 0, b = 0, c = 0, d = 0] = octets
  return (a << 24) | (b << 16) | (c << 8) | d
}

/** Whether a host to listen on is reached from this machine alone. */
export function isLoopback(host: string): boolean {
  return host === 'localhost' || (ipaddr.isValid(host) && ipaddr.process(host).range() === 'loopback')
}

/** The network of a valid address that names no single household: IPv4 /24, IPv6 /48. */
export function prefixOf(address: string): string {
  const ip = ipaddr.process(address)
  const [bits, network] =
    ip instanceof ipaddr.IPv4
      ? [24, ipaddr.IPv4.networkAddressFromCIDR(`${ip.toString()}/24`)]
      : [48, ipaddr.IPv6.networkAddressFromCIDR(`${ip.toString()}/48`)]
  return `${network.toString()}/${bits}`
}
