/** Kept answers in memory. */
import t from 'tap'
import type { KeptAnswer } from '../../../src/ports/answer-cache.ts'
import { AnswerRing, NONE, PER_ANSWER } from '../../../src/stores/memory/answer-ring.ts'
import { MemoryAnswers } from '../../../src/stores/memory/answers.ts'
import { Random } from '../../support/random.ts'

const answer = (result: string, route = 'a', method = 'm', network = 'n'): KeptAnswer => ({
  result,
  origin: { network, method, route },
  bounds: null,
})

t.test('the bound holds to the byte, and what was not asked for lately makes room', t => {
  // A key and a result fill words of four bytes, an answer those of eight.
  const each = PER_ANSWER + 4 + 12
  const answers = new MemoryAnswers(4 * each)
  for (const key of ['a', 'b', 'c', 'd']) answers.keep(key, answer('0123456789'))
  t.strictSame([answers.bytes, answers.entries, answers.evicted], [4 * each, 4, 0])
  answers.find('d')
  answers.find('a')
  t.strictSame([answers.bytes, answers.entries, answers.evicted], [4 * each, 4, 0], 'it is the newest now')
  answers.keep('e', answer('0123456789'))
  t.equal(answers.find('b'), null)
  t.equal(answers.find('a')?.result, '0123456789')
  t.strictSame([answers.bytes, answers.entries, answers.evicted], [4 * each, 4, 1])
  answers.keep('a', answer('x'.repeat(8 + each)))
  t.match(answers.find('a')?.result, /^x+$/)
  t.equal(answers.entries, 2, 'a longer one takes the place of others')
  t.ok(answers.bytes <= 4 * each)
  answers.keep('f', answer('x'.repeat(4 * each)))
  t.equal(answers.find('f'), null, 'one that never fits pushes nothing out')
  t.equal(answers.entries, 2)
  t.end()
})

t.test(
  'whatever is kept, asked for and purged, an answer is that to its own key, and the counts are right',
  t => {
    for (let round = 0; round < 40; round += 1) {
      const random = new Random(round)
      // In every fourth round answers are long, and a larger buffer takes them over in many steps.
      const scale = round % 4 === 0 ? 10 : 1
      let bound = (500 + random.below(20_000)) * scale
      const answers = new MemoryAnswers(bound)
      const model = new Map<string, KeptAnswer>()
      let found = 0
      for (let step = 0; step < 2_000; step += 1) {
        // Of different lengths, and some that differ in one character alone, wherever it stands in a word.
        const key = `${'k'.repeat(random.below(9))}${random.below(60)}${'z'.repeat(random.below(5))}`
        if (random.below(400) === 0) {
          const route = random.pick(['a', 'b'])
          answers.purge({ route })
          for (const [key, { origin }] of model) if (origin.route === route) model.delete(key)
        } else if (random.below(2) === 0) {
          const tip = random.below(2) === 0 ? { block: random.below(2 ** 40), height: random.below(9) } : null
          const bounds = random.below(2) === 0 ? { until: random.below(2 ** 50) / 3, tip } : null
          const result = `${step}${'\xff'.repeat(random.below(300 * scale))}`
          const kept = { ...answer(result, random.pick(['a', 'b']), random.pick(['m', 'n'])), bounds }
          answers.keep(key, kept)
          model.set(key, kept)
        }
        if (random.below(600) === 0) {
          const before = answers.entries
          answers.resize((bound += 1 + random.below(8_000 * scale)))
          if (answers.entries !== before) t.fail('more memory keeps all')
        }
        if (answers.bytes > bound) t.fail('more than the bound')
        const kept = answers.find(key)
        if (kept === null) continue
        found += 1
        const { result, bounds, origin } = model.get(key)!
        const { network, method, route } = kept.origin
        if (kept.result !== result) t.equal(kept.result, result, `round ${round}, step ${step}`)
        if (JSON.stringify(kept.bounds) !== JSON.stringify(bounds)) t.strictSame(kept.bounds, bounds)
        if (JSON.stringify([network, method, route]) !== JSON.stringify(Object.values(origin)))
          t.strictSame({ network, method, route }, origin)
      }
      const before = answers.entries
      const there = [...model.keys()].filter(key => answers.find(key) !== null).length
      // To be asked for makes one the newest, and may push another out.
      t.ok(
        there >= answers.entries && there <= before,
        `${answers.entries} to ${before} entries, ${there} found`,
      )
      const left = answers.entries
      t.equal(answers.purge({}), left)
      t.strictSame([answers.entries, answers.bytes], [0, 0])
      t.ok(found > 100 && answers.evicted > 0, `${found} found, ${answers.evicted} made room`)
    }
    t.end()
  },
)

t.test('nobody makes others search for long: a chain has an end', t => {
  // All in one chain.
  const ring = new AnswerRing(64 * 1024, () => undefined, 64 * 1024)
  let held = 0
  for (let i = 0; i < 1_000; i += 1) {
    t.equal(ring.find(String(i)), NONE)
    if (ring.add(String(i), 'x', 0, null)) held += 1
  }
  t.equal(held, 64)
  t.not(ring.find('63'), NONE)
  t.end()
})

t.test('another bound: more keeps all, less begins anew, none keeps nothing', t => {
  const answers = new MemoryAnswers(200_000)
  // Past the end of its memory, and begun again.
  for (let i = 0; i < 200; i += 1) answers.keep(String(i), answer('x'.repeat(20 * i)))
  // The newest first: they are the last to come to a larger buffer.
  const found = (): (string | undefined)[] =>
    Array.from({ length: 201 }, (_, i) => answers.find(String(200 - i))?.result).reverse()
  const before = found()
  const { entries } = answers
  t.ok(entries > 30 && entries < 200)
  answers.resize(300_000)
  t.equal(answers.entries, entries)
  // Some have moved to the larger buffer when a still larger one comes.
  answers.keep('199', answer('z'))
  before[199] = 'z'
  answers.resize(400_000)
  t.strictSame(found(), before)
  t.equal(answers.entries, entries)
  answers.keep('200', answer('y'))
  t.strictSame(found(), [...before.slice(0, 200), 'y'], 'there is room for more')
  for (let i = 0; i < 20; i += 1) answers.keep(`long ${i}`, answer('x'.repeat(20_000)))
  answers.resize(410_000)
  for (let i = 20; i < 40; i += 1) {
    answers.keep(`long ${i}`, answer('x'.repeat(20_000)))
    t.ok(answers.bytes <= 410_000, 'also while answers move')
  }
  answers.resize(100_000)
  t.equal(answers.find('200'), null)
  answers.resize(0)
  answers.keep('1', answer('x'))
  t.strictSame([answers.entries, answers.bytes], [0, 0])
  t.end()
})

t.test('bug: a larger buffer takes answers over in steps, not all in one turn', t => {
  const answers = new MemoryAnswers(400_000)
  const each = PER_ANSWER + 4 + 100
  // The first half is removed, and its memory is free as soon as it is passed.
  for (let i = 0; i < 2_000; i += 1) answers.keep(String(i % 1_000), answer('x'.repeat(100)))
  t.equal(answers.bytes, 2_000 * each)
  answers.resize(800_000)
  const passed: number[] = []
  for (let i = 0; i < 100; i += 1) {
    const before = answers.bytes
    answers.find('none')
    passed.push(before - answers.bytes)
  }
  t.ok(Math.max(...passed) < 20_000, `at most ${Math.max(...passed)} bytes at once`)
  t.equal(answers.bytes, 1_000 * each)
  for (let i = 0; i < 1_000; i += 1) if (answers.find(String(i)) === null) t.fail(`${i} is lost`)
  t.strictSame([answers.entries, answers.evicted], [1_000, 0])
  t.end()
})

t.test('a million distinct answers take no more than the bound', t => {
  const bound = 4 * 1024 * 1024
  const answers = new MemoryAnswers(bound)
  let most = 0
  for (let i = 0; i < 1_000_000; i += 1) {
    answers.keep(`eth\neth_call\n[${i}]`, answer(`"${i}"`))
    if (answers.bytes > most) most = answers.bytes
  }
  t.ok(most <= bound)
  t.equal(answers.entries + answers.evicted, 1_000_000)
  t.end()
})
