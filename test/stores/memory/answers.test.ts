/** Kept answers in memory. */
import t from 'tap'
import type { KeptAnswer } from '../../../src/ports/answer-cache.ts'
import { MemoryAnswers, PER_ANSWER } from '../../../src/stores/memory/answers.ts'

const answer = (result: string, route = 'a', method = 'm', network = 'n'): KeptAnswer => ({
  result,
  origin: { network, method, route },
  bounds: null,
})

t.test('the bound holds to the byte, and what was not asked for longest makes room', t => {
  const each = PER_ANSWER + 1 + 10
  const answers = new MemoryAnswers(3 * each)
  for (const key of ['a', 'b', 'c']) answers.keep(key, answer('0123456789'))
  t.strictSame([answers.bytes, answers.entries, answers.evicted], [3 * each, 3, 0])
  answers.find('a')
  answers.keep('d', answer('0123456789'))
  t.equal(answers.find('b'), null)
  t.equal(answers.find('a')?.result, '0123456789')
  t.strictSame([answers.bytes, answers.evicted], [3 * each, 1])
  answers.keep('a', answer('x'.repeat(10 + each)))
  t.strictSame([answers.bytes, answers.entries], [3 * each, 2], 'a longer one takes the place of another')
  answers.keep('e', answer('x'.repeat(4 * each)))
  t.equal(answers.find('e'), null, 'one that never fits pushes nothing out')
  t.equal(answers.entries, 2)
  t.end()
})

t.test('a purge drops at once, by any of the three, and says how many', t => {
  const answers = new MemoryAnswers(1_000_000)
  answers.keep('1', answer('x', 'a', 'm'))
  answers.keep('2', answer('x', 'a', 'o'))
  answers.keep('3', answer('x', 'b', 'm'))
  answers.keep('3', answer('y', 'b', 'm'))
  answers.keep('4', answer('x', 'b', 'm', 'other'))
  t.equal(answers.purge({ route: 'b', network: 'n' }), 1, 'an answer that was given anew counts once')
  t.equal(answers.find('3'), null)
  t.equal(answers.find('4')?.result, 'x')
  answers.keep('3', answer('z', 'b', 'm'))
  t.equal(answers.find('3')?.result, 'z', 'what comes afterwards is kept')
  t.equal(answers.purge({ method: 'm' }), 3)
  t.equal(answers.purge({ method: 'm' }), 0)
  t.equal(answers.find('2')?.result, 'x')
  t.equal(answers.purge({}), 1)
  t.strictSame([answers.bytes, answers.entries], [0, 0])
  t.equal(answers.purges, 4)
  t.end()
})

t.test('another bound: more keeps all, less begins anew, none keeps nothing', t => {
  const answers = new MemoryAnswers(10_000)
  answers.keep('1', answer('x'))
  answers.resize(20_000)
  t.equal(answers.find('1')?.result, 'x')
  answers.resize(5_000)
  t.equal(answers.find('1'), null)
  answers.resize(0)
  answers.keep('1', answer('x'))
  t.strictSame([answers.entries, answers.bytes], [0, 0])
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
