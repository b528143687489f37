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
