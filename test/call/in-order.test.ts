import { setImmediate as nextTurn } from 'node:timers/promises'
import t from 'tap'
import { inOrder } from '../../src/call/in-order.ts'

/** Works off so many items; gives how many turns were asked for. */
async function workOff(count: number, work: (item: number) => number | Promise<number>) {
  let turns = 0
  const results: number[] = []
  await inOrder(
    Array.from({ length: count }, (_, item) => item),
    {
      begin: async (item, index, answered) => {
        const result = work(item)
        results[index] = result instanceof Promise ? await result : result
        answered()
      },
      later: goOn => {
        turns += 1
        setImmediate(goOn)
      },
      isOver: () => false,
    },
  )
  return { turns, results }
}

function busy(ms: number): void {
  const end = performance.now() + ms
  while (performance.now() < end);
}

t.test('results come in the order of the items, whenever they come', async t => {
  const { results } = await workOff(100, async item => {
    if (item % 3 === 0) await nextTurn()
    return item
  })
  t.strictSame(
    results,
    Array.from({ length: 100 }, (_, item) => item),
  )
  t.strictSame((await workOff(100, item => item)).results, results)
  t.strictSame((await workOff(0, item => item)).results, [])
})

t.test('at most 32 are in flight', async t => {
  let [now, most] = [0, 0]
  await workOff(200, async item => {
    most = Math.max(most, (now += 1))
    await nextTurn()
    now -= 1
    return item
  })
  t.equal(most, 32)
})

t.test('what is there at once takes a step of a few items at a time', async t => {
  let [longest, step] = [0, 0]
  const count = 80
  let done = 0
  await inOrder(
    Array.from({ length: count }, (_, item) => item),
    {
      begin: (_item, _index, answered) => {
        step += 1
        busy(0.5)
        done += 1
        answered()
        return Promise.resolve()
      },
      later: goOn => {
        longest = Math.max(longest, step)
        step = 0
        setImmediate(goOn)
      },
      isOver: () => false,
    },
  )
  t.equal(done, count)
  t.ok(longest <= 8, `${longest} items in one step`)
})

t.test('items that end without their node, one behind the other, take steps too', async t => {
  let [begun, inThisTurn, most] = [0, 0, 0]
  const nodes = new Promise(resolve => setImmediate(resolve))
  await inOrder(
    Array.from({ length: 400 }, (_, item) => item),
    {
      begin: async (item, _index, answered) => {
        begun += 1
        most = Math.max(most, (inThisTurn += 1))
        if (item < 32) await nodes
        else busy(0.2)
        await Promise.resolve()
        answered()
      },
      later: goOn =>
        setImmediate(() => {
          inThisTurn = 0
          goOn()
        }),
      isOver: () => false,
    },
  )
  t.equal(begun, 400)
  t.ok(most < 60, `${most} in one turn`)
})

t.test('when nobody waits any more nothing further begins', async t => {
  let isOver = false
  const begun: number[] = []
  const waiting: (() => void)[] = []
  const over = inOrder(
    Array.from({ length: 100 }, (_, item) => item),
    {
      begin: (item, _index, answered) => {
        begun.push(item)
        waiting.push(answered)
      },
      later: goOn => setImmediate(goOn),
      isOver: () => isOver,
    },
  )
  t.equal(begun.length, 32)
  isOver = true
  for (const answered of waiting) answered()
  await over
  t.equal(begun.length, 32)
})

t.test('what throws rejects, at once and later', async t => {
  await t.rejects(
    workOff(3, () => {
      throw new Error('a bug')
    }),
    { message: 'a bug' },
  )
  await t.rejects(
    workOff(50, async item => {
      await nextTurn()
      if (item === 40) throw new Error('a late bug')
      return item
    }),
    { message: 'a late bug' },
  )
})
