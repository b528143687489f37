import { isIP } from 'node:net'
import ipaddr from 'ipaddr.js'

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
