import ipaddr from 'ipaddr.js'

const { IPv4, IPv6 } = ipaddr

/** An address or CIDR in normal form, an IPv4-mapped one as IPv4; null when it is neither. */
export function normalizeAddress(text: string): string | null {
  const [address, prefix, ...more] = text.split('/')
  // ipaddr.js also takes `1`, `0x7f.1` and octal `010.0.0.1`, which others read differently.
  if (more.length > 0 || !isStrict(address!)) return null
  const ip = ipaddr.process(address!)
  if (prefix === undefined) return ip.toString()
  return isStrictPrefix(prefix) ? network(text, ip, Number(prefix)) : null
}

function isStrict(address: string): boolean {
  const dotted = address.includes('.') ? address.slice(address.lastIndexOf(':') + 1) : null
  if (dotted !== null && !IPv4.isValidFourPartDecimal(dotted)) return false
  // A zone (`%eth0`) means something on one host only.
  return dotted === address || (IPv6.isValid(address) && !address.includes('%'))
}

function isStrictPrefix(prefix: string): boolean {
  return /^(0|[1-9]\d{0,2})$/.test(prefix)
}

/** The CIDR with its host bits cleared. */
function network(text: string, ip: ReturnType<typeof ipaddr.process>, prefix: number): string | null {
  if (ip instanceof IPv4) {
    const mapped = text.includes(':')
    const bits = mapped ? prefix - 96 : prefix
    return bits >= 0 && bits <= 32
      ? `${IPv4.networkAddressFromCIDR(`${ip.toString()}/${bits}`).toString()}/${bits}`
      : null
  }
  return prefix <= 128 ? `${IPv6.networkAddressFromCIDR(text).toString()}/${prefix}` : null
}
