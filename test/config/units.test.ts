import fc from 'fast-check'
import t from 'tap'
import { duration, listenAddress, size } from '../../src/config/words/units.ts'
import { schemaErrors } from '../../src/config/schema/schemas.ts'

const accepts = (gateway: object) => schemaErrors('gateway.yaml', gateway).length === 0
const count = fc.integer({ min: 1, max: 99_999_999 })

t.test('durations', t => {
  const units = { ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }
  fc.assert(
    fc.property(count, fc.constantFrom(...Object.entries(units)), (n, [unit, ms]) => {
      t.equal(duration(`${n}${unit}`), n * ms)
      t.ok(Number.isSafeInteger(n * ms))
      t.ok(accepts({ timeouts: { drain: `${n}${unit}` } }))
    }),
    { numRuns: 50 },
  )
  for (const text of ['', '10', 's', '1.5s', '-1s', '1 s', '1S', '1s2', ' 1s', '1min', '1w', '1e3s', '٣s'])
    t.equal(duration(text), null, text)
  t.end()
})

t.test('sizes', t => {
  const units = { B: 1, KiB: 1024, MiB: 1024 ** 2, GiB: 1024 ** 3 }
  fc.assert(
    fc.property(count, fc.constantFrom(...Object.entries(units)), (n, [unit, bytes]) => {
      t.equal(size(`${n}${unit}`), n * bytes)
      t.equal(size(n), n)
      t.ok(accepts({ limits: { body: `${n}${unit}`, wsReply: n } }))
    }),
    { numRuns: 50 },
  )
  for (const text of ['', '10', 'KiB', '1.5MiB', '-1B', '1 B', '1KB', '1kib', '1MiB2', '1TiB'])
    t.equal(size(text), null, text)
  t.end()
})

t.test('what the schema lets through has a value, and the other way round', t => {
  const text = fc.stringMatching(/^[0-9]{0,3}[ .]?(ms|s|m|h|d|B|KiB|MiB|GiB|x)?$/)
  fc.assert(
    fc.property(text, written => {
      if (accepts({ timeouts: { drain: written } })) t.ok(duration(written)! > 0, written)
      else t.ok(duration(written) === null || written.startsWith('0'), written)
      if (accepts({ limits: { body: written } })) t.ok(size(written)! > 0, written)
      else t.ok(size(written) === null || written.startsWith('0'), written)
    }),
  )
  t.end()
})

t.test('addresses to listen on', t => {
  t.same(listenAddress('127.0.0.1:8080'), { host: '127.0.0.1', port: 8080 })
  t.same(listenAddress('localhost:0'), { host: 'localhost', port: 0 })
  t.same(listenAddress('[::]:8080'), { host: '::', port: 8080 })
  t.same(listenAddress('[::1]:65535'), { host: '::1', port: 65535 })
  for (const text of [
    '',
    '8080',
    ':8080',
    'host',
    'host:',
    'host:65536',
    '::1:80',
    '[::1]',
    'a b:1',
    'http://x:1',
    'h:1/',
  ])
    t.equal(listenAddress(text), null, text)
  t.end()
})
