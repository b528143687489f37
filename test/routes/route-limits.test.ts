/** How many calls a route takes at once, from one process and from one of several. */
import t from 'tap'
import { OwnRate } from '../../src/limits/route-rate.ts'
import { RouteLimits } from '../../src/routes/route-limits.ts'

t.test('a route takes as many calls at once as it may, and as many again as have ended', t => {
  const limits = new RouteLimits('eth-a', { inFlight: 2, perSecond: null })
  limits.enter('one')
  t.ok(limits.fits(0, 'other'))
  limits.enter('other')
  t.notOk(limits.fits(0, 'other'))
  limits.leave('one')
  t.ok(limits.fits(0, 'other'))
  t.equal(limits.inFlight, 1)
  t.end()
})

t.test('one of several processes has its part, rounded up', t => {
  const asked: unknown[] = []
  const sharing = {
    processes: 4,
    rate: (route: string, perSecond: number) => {
      asked.push([route, perSecond])
      return new OwnRate(perSecond)
    },
  }
  for (const [inFlight, part] of [
    [8, 2],
    [9, 3],
    [1, 1],
  ] as const)
    t.equal(new RouteLimits('eth-a', { inFlight, perSecond: null }, sharing).most, part)
  t.strictSame(asked, [], 'no rate where there is none')
  new RouteLimits('eth-a', { inFlight: null, perSecond: 50 }, sharing)
  t.strictSame(asked, [['eth-a', 50]])
  t.end()
})

t.test('a rate bounds what begins, and what is over counts on', t => {
  const limits = new RouteLimits('eth-a', { inFlight: null, perSecond: 2 })
  for (let i = 0; i < 2; i += 1) {
    t.ok(limits.fits(0))
    limits.enter()
    limits.leave()
  }
  t.notOk(limits.fits(0))
  t.ok(limits.fits(500))
  t.end()
})
