/** What every implementation of the port Holdings keeps to: the one in memory, and one of several processes over the keeper's socket. */
import t from 'tap'
import type { Test } from 'tap'
import { Slots } from '../../src/limits/slots.ts'
import type { Holdings } from '../../src/ports/holdings.ts'
import { connectHoldings } from '../support/holdings.ts'
import { startKeeper } from '../support/keeper.ts'

const implementations: Readonly<Record<string, (t: Test) => Promise<Holdings>>> = {
  memory: async () => Promise.resolve(new Slots()),
  keeper: async t => {
    const { path } = await startKeeper(t)
    await connectHoldings(t, path, { slot: 2 })
    return (await connectHoldings(t, path)).of('connections')
  },
}

for (const [name, make] of Object.entries(implementations)) {
  t.test(`${name}: a holder has at most so many, and others have their own`, async t => {
    const holdings = await make(t)
    t.equal(await holdings.take('a', 0), false)
    const taken: boolean[] = []
    for (let i = 0; i < 5; i += 1) taken.push(await holdings.take('a', 3))
    t.strictSame(taken, [true, true, true, false, false])
    t.equal(await holdings.take('b', 1), true)
    t.strictSame(
      ['a', 'b', 'nobody'].map(holder => holdings.held(holder)),
      [3, 1, 0],
    )
  })

  t.test(`${name}: what is given back can be taken again`, async t => {
    const holdings = await make(t)
    for (let i = 0; i < 3; i += 1) await holdings.take('a', 3)
    holdings.free('a')
    t.equal(holdings.held('a'), 2)
    t.equal(await holdings.take('a', 3), true)
    t.equal(await holdings.take('a', 3), false)
    for (let i = 0; i < 4; i += 1) holdings.free('a')
    t.equal(holdings.held('a'), 0, 'never less than none')
    t.equal(await holdings.take('a', 1), true)
    t.equal(await holdings.take('a', 1), false)
  })

  for (const limit of [1, 7, 100])
    t.test(`${name}: takers that race end at exactly ${limit}`, async t => {
      const holdings = await make(t)
      const taken = await Promise.all(
        Array.from({ length: limit + 20 }, async () => holdings.take('a', limit)),
      )
      t.equal(taken.filter(Boolean).length, limit)
      t.strictSame(taken, [...taken].sort().reverse(), 'those who came first')
      t.equal(holdings.held('a'), limit)
    })

  t.test(
    `${name}: a smaller limit refuses, and says how many may stay; a larger one has room again`,
    async t => {
      const holdings = await make(t)
      for (let i = 0; i < 5; i += 1) await holdings.take('a', 5)
      t.equal(await holdings.part('a', 5), Infinity)
      t.equal(await holdings.part('a', 2), 2)
      t.equal(await holdings.take('a', 2), false)
      for (let i = 0; i < 3; i += 1) holdings.free('a')
      t.equal(await holdings.take('a', 2), false)
      t.equal(await holdings.part('a', 2), Infinity)
      t.equal(await holdings.part('nobody', 0), Infinity)
      t.equal(await holdings.take('a', 3), true)
    },
  )
}

t.test('in memory nobody waits', t => {
  const slots = new Slots()
  t.equal(slots.take('a', 1), true)
  t.equal(slots.take('a', 1), false)
  t.equal(slots.part('a', 0), 0)
  t.end()
})
