import type { IncomingMessage } from 'node:http'
import t from 'tap'
import { inRange, parseRange } from '../../src/net/address-range.ts'
import type { Gateway } from '../../src/call/gateway.ts'
import { Addresses, addressReader } from '../../src/http/address.ts'

const from = (remoteAddress: string, forwarded?: string): IncomingMessage =>
  ({ socket: { remoteAddress }, headers: { 'x-forwarded-for': forwarded } }) as unknown as IncomingMessage

t.test('X-Forwarded-For is believed from the right, and only behind trusted proxies', t => {
  const read = addressReader(['10.0.0.0/8', '::1'])
  const cases: [string, string | undefined, string][] = [
    ['203.0.113.9', '198.51.100.1', '203.0.113.9'],
    ['10.0.0.1', undefined, '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', '1.1.1.1, 198.51.100.1, 10.0.0.2', '198.51.100.1'],
    ['::ffff:10.0.0.1', '198.51.100.1', '198.51.100.1'],
    ['::1', '198.51.100.1', '198.51.100.1'],
    ['10.0.0.1', 'nonsense', '10.0.0.1'],
    ['10.0.0.1', '198.51.100.1, nonsense', '10.0.0.1'],
    ['10.0.0.1', '10.0.0.3, 10.0.0.2', '10.0.0.3'],
  ]
  for (const [peer, forwarded, expected] of cases)
    t.equal(read(from(peer, forwarded)).address, expected, `${peer} ${forwarded ?? ''}`)
  t.equal(addressReader([])(from('10.0.0.1', '198.51.100.1')).address, '10.0.0.1')
  t.end()
})

t.test("a proxy in front that is not trusted is reported once, and a stranger's header is not", t => {
  const at = (trustedProxies: readonly string[]) => ({ gateway: { trustedProxies } })
  const gateway = { snapshot: at([]) }
  const reported: string[] = []
  const addresses = new Addresses(gateway as unknown as Gateway, peer => reported.push(peer))
  for (const peer of ['203.0.113.9', '2606:4700::1111', '10.0.0.1', '127.0.0.1', '10.0.0.1'])
    t.equal(addresses.of(from(peer, '198.51.100.1')).address, peer)
  addresses.of(from('10.0.0.1'))
  t.strictSame(reported, ['10.0.0.1'])
  gateway.snapshot = at(['10.0.0.0/8'])
  t.equal(addresses.of(from('10.0.0.1', '198.51.100.1')).address, '198.51.100.1')
  t.equal(addresses.of(from('10.0.0.1', 'nonsense')).address, '10.0.0.1')
  t.strictSame(reported, ['10.0.0.1'])
  addresses.of(from('127.0.0.1', '198.51.100.1'))
  t.strictSame(reported, ['10.0.0.1', '127.0.0.1'], 'bug: a list that lacks the proxy was silent')
  gateway.snapshot = at([])
  addresses.of(from('::1', '198.51.100.1'))
  t.strictSame(reported, ['10.0.0.1', '127.0.0.1', '::1'], 'and again after an edit')
  t.end()
})

t.test('an IPv6 /64 is one address for limits', t => {
  const read = addressReader([])
  t.strictSame(read(from('2001:db8:1:2:3:4:5:6')), {
    address: '2001:db8:1:2:3:4:5:6',
    limitAddress: '2001:db8:1:2::/64',
  })
  t.strictSame(read(from('::ffff:192.0.2.1')), { address: '192.0.2.1', limitAddress: '192.0.2.1' })
  t.end()
})

t.test('ranges', t => {
  const cases: [string, string, boolean][] = [
    ['192.0.2.0/24', '192.0.2.255', true],
    ['192.0.2.0/24', '192.0.3.0', false],
    ['192.0.2.1', '::ffff:192.0.2.1', true],
    ['::ffff:192.0.2.0/120', '192.0.2.7', true],
    ['2001:db8::/32', '2001:db8:ffff::1', true],
    ['2001:db8::/32', '192.0.2.1', false],
    ['0.0.0.0/0', '2001:db8::1', false],
  ]
  for (const [range, address, expected] of cases)
    t.equal(inRange(address, parseRange(range)), expected, `${range} ${address}`)
  t.end()
})
