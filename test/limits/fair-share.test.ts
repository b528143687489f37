import fc from 'fast-check'
import t from 'tap'
import { FairShare, PUBLIC } from '../../src/limits/fair-share.ts'

/** Takes one by one as long as it fits; gives how many that were. */
function takeAll(share: FairShare, caller: string): number {
  let taken = 0
  for (; share.fits(1, caller); taken += 1) share.take(1, caller)
  return taken
}

t.test('one caller alone gets most, the next most of what is left, and little accounts the reserve', t => {
  const share = new FairShare(() => 400)
  t.equal(takeAll(share, 'a'), 233, 'two thirds of all but an eighth')
  t.equal(takeAll(share, 'b'), 78)
  t.notOk(share.fits(1, 'a'))
  for (let i = 0; i < 10; i += 1) takeAll(share, `greedy ${i}`)
  t.ok(share.total < 400, `${share.total} of 400 are taken`)
  const left = 400 - share.total
  for (let i = 0; i < left; i += 1) {
    t.ok(share.fits(1, `new ${i}`), 'who holds nothing finds room while there is any')
    share.take(1, `new ${i}`)
  }
  t.notOk(share.fits(1, 'last'))
  t.notOk(share.fits(1), 'nobody does without')
  share.giveBack(233, 'a')
  t.ok(share.fits(1, 'b') && share.fits(1, 'last'), 'what is given back is there for all')
  t.end()
})

t.test('however many addresses the public route has, they are one caller to the accounts', t => {
  const share = new FairShare(() => 400)
  t.equal(takeAll(share, `${PUBLIC}0`), 200, 'one leaves some to the others')
  for (let i = 1; i < 500; i += 1) takeAll(share, `${PUBLIC}${i}`)
  t.ok(share.total <= 233, `${share.total} by 500 addresses`)
  t.notOk(share.fits(1, `${PUBLIC}500`))
  t.ok(takeAll(share, 'an account') >= 70)
  share.giveBack(200, `${PUBLIC}0`)
  t.ok(share.fits(1, `${PUBLIC}500`))
  t.end()
})

t.test('a small limit is not divided', t => {
  t.equal(takeAll(new FairShare(() => 31, { from: 32 }), 'a'), 31)
  t.equal(takeAll(new FairShare(() => 32, { from: 32 }), 'a'), 18)
  t.end()
})

t.test('of an overdrawn budget those give way who hold the most', t => {
  let limit = 100
  const share = new FairShare(() => limit)
  share.take(70, 'a')
  share.take(20, 'b')
  t.notOk(share.isOverdrawn('a'))
  limit = 80
  t.strictSame([share.isOverdrawn('a'), share.isOverdrawn('b'), share.isOverdrawn()], [true, false, true])
  t.end()
})

t.test('a caller has spent its share when nothing fits and it holds at least as much as the others', t => {
  const share = new FairShare(() => 300)
  t.notOk(share.isSpent(500, 'a'), 'who holds nothing has spent nothing')
  takeAll(share, 'a')
  t.ok(share.isSpent(1, 'a'))
  takeAll(share, 'b')
  t.strictSame([share.isSpent(1, 'a'), share.isSpent(1, 'b')], [true, false])
  t.notOk(share.isSpent(1, 'c'))
  t.end()
})

t.test('callers that come and go leave nothing', t => {
  const share = new FairShare(() => 100)
  for (let i = 0; i < 10_000; i += 1) {
    share.take(3, `caller ${i}`)
    share.giveBack(3, `caller ${i}`)
  }
  share.take(60, 'a')
  share.take(50, 'b')
  t.equal(share.total, 110)
  t.strictSame([share.isOverdrawn('a'), share.isOverdrawn('b')], [true, true], 'each holds the half at least')
  t.end()
})

t.test(
  'property: never above the limit, never far above what is free, and always room for a new account',
  t => {
    const step = fc.record({
      caller: fc.integer({ min: 0, max: 9 }),
      amount: fc.integer({ min: 1, max: 40 }),
    })
    fc.assert(
      fc.property(fc.array(step, { maxLength: 200 }), fc.integer({ min: 50, max: 5_000 }), (steps, limit) => {
        const share = new FairShare(() => limit)
        const held = new Map<string, number>()
        for (const { caller, amount } of steps) {
          const name = caller < 5 ? `${PUBLIC}${caller}` : String(caller)
          if (!share.fits(amount, name)) continue
          share.take(amount, name)
          held.set(name, (held.get(name) ?? 0) + amount)
          const free = limit - share.total
          if (free < 0 || (held.get(name)! > 4 && held.get(name)! > 2 * (free - limit / 8))) return false
          if (share.fits(1, 'new') !== free > 0) return false
        }
        return [...held.values()].reduce((sum, one) => sum + one, 0) === share.total
      }),
    )
    t.end()
  },
)
