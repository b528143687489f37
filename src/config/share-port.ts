import ipaddr from 'ipaddr.js'
import type { ListenAddress } from './types.ts'

const ANY = '0.0.0.0'
/** Takes IPv4 as well. */
const ANY_V6 = '::'

/** Whether of two listeners with these addresses the second finds its port taken. Port 0 is another one each time; names are compared as they are written. */
export function sharePort(one: ListenAddress, other: ListenAddress): boolean {
  if (one.port !== other.port || one.port === 0) return false
  const hosts = [hostOf(one), hostOf(other)]
  const [a, b] = hosts
  return a === b || hosts.includes(ANY_V6) || (hosts.includes(ANY) && hosts.every(isIpv4))
}

/** `::ffff:127.0.0.1` is 127.0.0.1. */
function hostOf({ host }: ListenAddress): string {
  return ipaddr.isValid(host) ? ipaddr.process(host).toString() : host.toLowerCase()
}

function isIpv4(host: string): boolean {
  return ipaddr.IPv4.isValid(host)
}
