/** Which addresses and URLs are the Internet's: what an account's owner names must be no way into the operator's network. */
import ipaddr from 'ipaddr.js'
import { inSet, parseSet } from './address-range.ts'

/** All that IPv6 gives out to the Internet: what lies outside is reserved, or carries an IPv4 address that may be private. */
const GLOBAL_V6 = parseSet(['2000::/3'])
/** Azure's host answers every virtual machine here, on an address that looks public. */
const CLOUD_HOSTS = parseSet(['168.63.129.16'])
const LOCAL_NAME = /^(.+\.)?localhost\.?$/

/** Whether a valid address is one of the Internet's. */
export function isPublicAddress(address: string): boolean {
  const ip = ipaddr.process(address)
  const isAssigned = ip.kind() === 'ipv4' || inSet(address, GLOBAL_V6)
  return ip.range() === 'unicast' && isAssigned && !inSet(address, CLOUD_HOSTS)
}

/** Whether the host of a URL is not public, as far as it says so itself: other names are looked up when it is connected to. */
export function isPrivateHost({ hostname }: URL): boolean {
  const literal = hostname.replace(/^\[|\]$/g, '')
  return ipaddr.isValid(literal) ? !isPublicAddress(literal) : LOCAL_NAME.test(hostname)
}
