import t from 'tap'
import { FairCache } from '../../src/limits/fair-cache.ts'

/** How many entries there are of each of these holders. */
function counts(cache: FairCache<string>, keys: readonly string[], now = 0): Record<string, number> {
  const held: Record<string, number> = {}
  for (const key of keys) {
    const holder = cache.get(key, now)
    if (holder !== undefined) held[holder] = (held[holder] ?? 0) + 1
  }
  return held
}

/** Adds so many entries of each of these, in turn; gives all keys. */
function fill(cache: FairCache<string>, times: number, holders: readonly string[]): string[] {
  const keys: string[] = []
  for (let n = 0; n < times; n += 1)
    for (const holder of holders) {
      keys.push(`${holder} ${n}`)
      cache.add(`${holder} ${n}`, holder, holder, 0)
    }
  return keys
}

t.test('entries last as long as they are told to, and the newest value counts', t => {
  const cache = new FairCache<string>(10, 100)
  cache.add('a', 'old', 'acc_1', 0)
  cache.add('b', 'b', 'acc_1', 50)
  cache.add('a', 'new', 'acc_2', 60)
  t.strictSame([cache.get('a', 159), cache.get('b', 149)], ['new', 'b'])
  t.strictSame([cache.get('a', 160), cache.get('b', 150)], [undefined, undefined])
  t.end()
})

t.test('who is over its share pushes out its own, the oldest first', t => {
  const cache = new FairCache<string>(800, 100)
  const keys = fill(cache, 1_000, ['acc_1'])
  // At most twice what is free, less an eighth that is kept for who has little.
  t.strictSame(counts(cache, keys), { acc_1: 466 })
  t.strictSame([cache.get('acc_1 533', 0), cache.get('acc_1 534', 0)], [undefined, 'acc_1'])
  const others = fill(cache, 1_000, ['acc_2', 'acc_3'])
  const held = counts(cache, [...keys, ...others])
  t.equal(held['acc_1'], 466, 'which others do not take from it')
  t.ok(held['acc_2']! >= 50 && held['acc_3']! >= 50, JSON.stringify(held))
  fill(cache, 1_000, ['acc_1'])
  const now = counts(cache, [...keys, ...others])
  t.ok(now['acc_1']! < 450, `it gives up what is over its share when it goes on: ${now['acc_1']}`)
  t.end()
})

t.test('all addresses of the public route have one share, and divide it', t => {
  const cache = new FairCache<string>(800, 100)
  const first = fill(cache, 3, ['acc_1', 'public a'])
  const many = Array.from({ length: 2_000 }, (_, n) => `public b${n}`)
  const keys = [...first, ...fill(cache, 1, many), ...fill(cache, 1_000, ['public c'])]
  const held = counts(cache, keys)
  t.equal(held['acc_1'], 3)
  const all = Object.entries(held).reduce((sum, [name, n]) => sum + (name === 'acc_1' ? 0 : n), 0)
  t.ok(all <= 466, `${all} of the public route`)
  t.ok(held['public c']! > 0)
  t.end()
})

t.test('where it is full of holders of little, the oldest of all makes room', t => {
  const cache = new FairCache<string>(800, 100)
  const many = Array.from({ length: 2_000 }, (_, n) => `acc_${n}`)
  const held = counts(cache, fill(cache, 1, many))
  t.equal(Object.keys(held).length, 800)
  t.strictSame([held['acc_1199'], held['acc_1200'], held['acc_1999']], [undefined, 1, 1])
  t.end()
})
