import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { FairTurns } from '../../src/http/fair-turns.ts'

const callers = new WeakMap<object, string>()
let last = 0

/** A caller of its own for each connection. */
function callerOf(connection: object): string {
  if (!callers.has(connection)) callers.set(connection, `caller ${(last += 1)}`)
  return callers.get(connection)!
}

/** How connections use it, in a loop whose turns are counted. */
function fair() {
  let count = 0
  const turns = new FairTurns(() => count)
  return {
    run: (connection: object, work: () => void) => {
      turns.begin(connection, callerOf(connection), 0, work)
    },
    turn: async () => {
      await nextTurn()
      count += 1
    },
  }
}

/** Keeps this thread busy. */
function work(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('what comes one by one is done at once', async t => {
  const { run, turn } = fair()
  for (let i = 0; i < 3; i += 1) {
    let done = false
    run({}, () => (done = true))
    t.ok(done)
    await turn()
  }
})

t.test('who brings a hundred waits for the own ones, in their order; another is next', async t => {
  const { run, turn } = fair()
  const [many, one] = [{}, {}]
  const done: string[] = []
  for (let i = 0; i < 100; i += 1)
    run(many, () => {
      work(3)
      done.push(`many ${i}`)
    })
  const atOnce = done.length
  t.ok(atOnce >= 1 && atOnce < 100, `${atOnce} in the turn in which they came`)
  run(one, () => done.push('one'))
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
  const { run, turn } = fair()
  const connections = Array.from({ length: 20 }, () => ({}))
  const done: number[] = []
  // Their work took long, as the machine was busy with others: what comes behind it waits with what is long.
  const disturbed = new Set<number>()
  for (let round = 0; round < 5; round += 1)
    connections.forEach((connection, i) => {
      run(connection, () => {
        const begin = performance.now()
        work(0.4)
        done.push(i)
        if (performance.now() - begin > 0.5) disturbed.add(i)
      })
    })
  while (done.length < 100) await turn()
  const seen = connections.map((_, i) => done.filter(one => one === i).length)
  t.strictSame(new Set(seen), new Set([5]))
  const counts = new Map([...seen.keys()].filter(i => !disturbed.has(i)).map(i => [i, 0]))
  let lead = 0
  for (const one of done.filter(i => counts.has(i))) {
    counts.set(one, counts.get(one)! + 1)
    lead = Math.max(lead, counts.get(one)! - Math.min(...counts.values()))
  }
  t.ok(lead <= 3, `one was ${lead} ahead of another`)
})

t.test('what is long goes on behind what can begin, and comes to its end all the same', async t => {
  let count = 0
  const turns = new FairTurns(() => count)
  const [long, ...others] = Array.from({ length: 40 }, () => ({}))
  const done: string[] = []
  let steps = 20
  const step = (): void => {
    work(1)
    done.push('step')
    if ((steps -= 1) > 0) turns.goOn(long!, 'long', step)
  }
  turns.goOn(long!, 'long', step)
  turns.begin(long!, 'long', 0, () => done.push('its next'))
  turns.begin(others[0]!, callerOf(others[0]!), 0, () => done.push('another'))
  while (!done.includes('its next')) {
    // Calls of others that fill each turn.
    for (const one of others) turns.begin(one, callerOf(one), 0, () => work(0.2))
    await nextTurn()
    count += 1
    if (count > 100) break
  }
  t.ok(done.indexOf('another') <= 4, `another began after ${done.indexOf('another')} steps`)
  t.equal(done.indexOf('its next'), 21, 'its own next one waits for it')
  t.ok(count <= 40, `it took ${count} turns`)
})

t.test('after something long others have as much time as it took', async t => {
  const turns = new FairTurns(() => 0)
  const steps: [from: number, to: number][] = []
  const connections = [{}, {}, {}]
  const done = Promise.all(
    connections.map(
      connection =>
        new Promise<void>(resolve => {
          turns.begin(connection, callerOf(connection), 1 << 20, () => {
            const from = performance.now()
            work(20)
            steps.push([from, performance.now()])
            resolve()
          })
        }),
    ),
  )
  t.equal(steps.length, 0, 'it begins with the next turn')
  await done
  t.equal(steps.length, 3)
  for (let i = 1; i < 3; i += 1) {
    const rest = steps[i]![0] - steps[i - 1]![1]
    t.ok(rest >= 15, `${rest} ms behind 20`)
  }
})

t.test('connections whose work takes long do not keep another waiting for all of them', async t => {
  const { run, turn } = fair()
  const done: string[] = []
  const heavy = Array.from({ length: 30 }, () => ({}))
  const seen = new Set<object>()
  for (let round = 0; round < 3; round += 1)
    for (const one of heavy)
      run(one, () => {
        work(2)
        seen.add(one)
        done.push('heavy')
      })
  while (seen.size < 30) await turn()
  const before = done.length
  run({}, () => done.push('light'))
  while (done.length < 91) await turn()
  t.ok(done.indexOf('light') <= before + 10, `a call came behind ${done.indexOf('light') - before} more`)
})

t.test('a caller with many connections has no more turns than one with a single one', async t => {
  const turns = new FairTurns(() => 0)
  const done: string[] = []
  const long = (caller: string): void => {
    turns.goOn({}, caller, () => {
      work(5)
      done.push(caller)
    })
  }
  for (let i = 0; i < 100; i += 1) long('strangers')
  for (let i = 0; i < 3; i += 1) long('account')
  while (done.filter(caller => caller === 'account').length < 3) await nextTurn()
  t.ok(done.length <= 7, `${done.length - 3} of the hundred before them`)
})

t.test('strangers have one turn among them, which goes round by address', async t => {
  const turns = new FairTurns(() => 0)
  const done: string[] = []
  const long = (caller: string): void => {
    turns.goOn({}, caller, () => {
      work(2)
      done.push(caller)
    })
  }
  for (let address = 0; address < 50; address += 1)
    for (let i = 0; i < 3; i += 1) long(`public 10.0.0.${address}`)
  for (let i = 0; i < 3; i += 1) long('account')
  long('public 10.0.1.1')
  while (done.length < 154) await nextTurn()
  const accounts = [...done.keys()].filter(i => done[i] === 'account')
  t.strictSame(accounts, [1, 3, 5], 'an account has each second turn')
  t.equal(done.indexOf('public 10.0.1.1'), 53, 'who came last has a turn before anybody has a second one')
})

t.test(
  'turns that accept connections leave calls waiting for a while, and then begin them all the same',
  async t => {
    let count = 0
    const turns = new FairTurns(() => count)
    const connection = {}
    let done = 0
    turns.begin(connection, 'a', 0, () => {
      work(3)
    })
    for (let i = 0; i < 3; i += 1)
      turns.begin(connection, 'a', 0, () => {
        done += 1
        work(3)
      })
    const turn = async () => {
      turns.accepted()
      await nextTurn()
      count += 1
    }
    const begin = performance.now()
    await turn()
    t.equal(done, 0)
    while (done === 0) await turn()
    const waited = performance.now() - begin
    t.ok(waited > 9, `${waited} ms`)
    while (done < 3) await turn()
  },
)

t.test('what throws ends no other work', async t => {
  const turns = new FairTurns(() => 0)
  const told = new Promise(resolve => process.once('uncaughtException', resolve))
  turns.goOn({}, 'a', () => {
    throw new Error('a bug')
  })
  const done = new Promise<void>(resolve => {
    turns.goOn({}, 'b', resolve)
  })
  t.match(await told, { message: 'a bug' })
  await done
})

t.test(
  'a request of which only the head is known waits like a message, and among those of whom it seems to be of',
  async t => {
    let count = 0
    const turns = new FairTurns(() => count)
    const [many, other, known] = [{}, {}, {}]
    const done: string[] = []
    const admit = (connection: object, stranger: string, name: string) =>
      turns.admit(
        connection,
        () => stranger,
        () => done.push(name),
      )
    turns.begin(known, 'account', 0, () => done.push('known'))
    t.ok(admit(many, 'a', 'at once'), 'where the turn has time for it')
    turns.begin(many, 'a', 0, () => {
      work(4)
    })
    t.notOk(admit(many, 'a', 'many 1'))
    t.notOk(admit(many, 'a', 'many 2'))
    t.notOk(admit(other, 'b', 'other'))
    t.notOk(admit(known, 'a', 'account'), 'whose it is was said before')
    t.strictSame(done, ['known', 'at once'])
    for (; done.length < 6; count += 1) await nextTurn()
    t.strictSame(done, ['known', 'at once', 'many 1', 'other', 'account', 'many 2'])
  },
)
