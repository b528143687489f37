import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import { FairTurns } from '../../src/server/fair-turns.ts'

/** Keeps this thread busy. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('what comes one by one is done at once', async t => {
  const turns = new FairTurns()
  for (let i = 0; i < 3; i += 1) {
    let done = false
    turns.run({}, () => (done = true))
    t.ok(done)
    await turn()
  }
})

t.test('who brings a hundred waits for the own ones, in their order; another is next', async t => {
  const turns = new FairTurns()
  const [many, one] = [{}, {}]
  const done: string[] = []
  for (let i = 0; i < 100; i += 1)
    turns.run(many, () => {
      work(3)
      done.push(`many ${i}`)
    })
  const atOnce = done.length
  t.ok(atOnce >= 1 && atOnce < 100, `${atOnce} in the turn in which they came`)
  turns.run(one, () => done.push('one'))
  t.notOk(done.includes('one'))
  await turn()
  t.ok(done.indexOf('one') <= atOnce + 1, `after ${done.indexOf('one')}`)
  t.ok(done.length < 101, 'the rest comes in later turns')
  while (done.length < 101) await turn()
  t.strictSame(
    done.filter(name => name !== 'one'),
    Array.from({ length: 100 }, (_, i) => `many ${i}`),
  )
})

t.test('many connections are served in turns', async t => {
  const turns = new FairTurns()
  const connections = Array.from({ length: 20 }, () => ({}))
  const done: number[] = []
  for (let round = 0; round < 5; round += 1)
    connections.forEach((connection, i) => {
      turns.run(connection, () => {
        work(2)
        done.push(i)
      })
    })
  while (done.length < 100) await turn()
  const seen = connections.map((_, i) => done.filter(one => one === i).length)
  t.strictSame(new Set(seen), new Set([5]))
  // Behind what was done at once each connection gets one before any gets its second.
  const queued = done.slice(done.length - 80)
  t.ok(queued.slice(0, 20).every((one, i, all) => all.indexOf(one) === i))
})
