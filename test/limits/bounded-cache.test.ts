import t from 'tap'
import { BoundedCache } from '../../src/limits/bounded-cache.ts'

t.test('what was not asked for longest makes room', t => {
  const cache = new BoundedCache<number>(3)
  for (const [n, key] of ['a', 'b', 'c'].entries()) cache.set(key, n)
  cache.get('a')
  cache.set('c', 9)
  cache.set('d', 3)
  t.strictSame([...cache.entries()].toSorted(), [
    ['a', 0],
    ['c', 9],
    ['d', 3],
  ])
  t.end()
})

t.test('entries last as long as they are told to', t => {
  let now = 1
  const cache = new BoundedCache<true>(10, { ttl: 100, ttlResolution: 0, perf: { now: () => now } })
  cache.set('a', true)
  now += 100
  t.equal(cache.get('a'), true)
  now += 1
  t.equal(cache.get('a'), undefined)
  t.end()
})

t.test('a large one takes no memory before it is filled', t => {
  const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
  const cache = new BoundedCache<number>(10_000_000)
  const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
  t.ok(after - before < 1024 * 1024, `${after - before} bytes`)
  for (let i = 0; i < 100; i += 1) cache.set(`key ${i}`, i)
  t.equal(cache.size, 100)
  t.end()
})
