import t from 'tap'
import { FairQueue } from '../../../src/stores/sqlite/usage/sums/queue.ts'

/** A queue whose work ends when the test says so. */
function slowly(mayStart?: () => boolean, patience?: number) {
  const queue = new FairQueue<string>(mayStart, patience)
  const started: string[] = []
  const ends = new Map<string, () => void>()
  const ask = (account: string, name: string): Promise<string> =>
    queue.run(account, () => {
      started.push(name)
      return new Promise(resolve => ends.set(name, () => resolve(name)))
    })
  const end = async (name: string): Promise<void> => {
    ends.get(name)!()
    await new Promise(setImmediate)
  }
  return { queue, started, ask, end }
}

t.test('one query an account, two in all, and accounts take turns', async t => {
  const { started, ask, end } = slowly()
  const all = ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'].map(name => ask(name[0]!, name))
  t.strictSame(started, ['a1', 'b1'])
  for (const name of ['a1', 'b1', 'a2', 'b2', 'c1', 'a3']) await end(name)
  t.strictSame(
    started,
    ['a1', 'b1', 'a2', 'b2', 'c1', 'a3'],
    'the third of one comes after the first of another',
  )
  t.strictSame(await Promise.all(all), ['a1', 'a2', 'a3', 'b1', 'b2', 'c1'])
})

t.test('an account that asks too much is busy, and no other', async t => {
  const { ask } = slowly()
  const mine = Array.from({ length: 30 }, (_, n) => ask('a', `a${n}`))
  t.equal(await mine[17], 'busy', 'one runs, sixteen wait')
  const other = ask('b', 'b0')
  t.not(await Promise.race([other, Promise.resolve('running')]), 'busy')
  const many = Array.from({ length: 300 }, (_, n) => ask(`account${n}`, `other${n}`))
  t.equal(await many.at(-1), 'busy', 'all together have a bound too')
})

t.test('who waits too long is told so', async t => {
  // The queue's own timers do not keep a process running.
  const alive = setInterval(() => undefined, 1_000)
  t.teardown(() => {
    clearInterval(alive)
  })
  const { started, ask, end } = slowly(undefined, 5)
  const [first, second] = [ask('a', 'a1'), ask('a', 'a2')]
  t.equal(await second, 'busy')
  await end('a1')
  t.equal(await first, 'a1')
  t.strictSame(started, ['a1'])
})

t.test('nothing starts while the log must be written back', async t => {
  let may = true
  const { queue, started, ask, end } = slowly(() => may || queue.running === 0)
  void ask('a', 'a1')
  may = false
  void ask('b', 'b1')
  t.strictSame(started, ['a1'])
  await end('a1')
  t.strictSame(started, ['a1', 'b1'], 'the last reader lets the next in')
})

t.test('a query that throws leaves its place to others', async t => {
  const queue = new FairQueue<string>()
  await t.rejects(
    queue.run('a', () => Promise.reject(new Error('broken'))),
    { message: 'broken' },
  )
  t.equal(await queue.run('a', () => Promise.resolve('fine')), 'fine')
})
