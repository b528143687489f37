/** What is final, by what routes report. */
import t from 'tap'
import { Finality } from '../../src/routes/finality.ts'
import { LiveRoute } from '../../src/routes/live-route.ts'
import type { Network, Route } from '../../src/snapshot/types.ts'

type Chain = Pick<Network, 'slug' | 'cache' | 'finality' | 'routes'>

/** A network of some healthy routes; those called relay are private. */
function chain(ids: readonly string[], finality: Network['finality'] = 'finalized') {
  const routes = ids.map(id => {
    const route = new LiveRoute(
      { id, network: 'eth', http: 'http://127.0.0.1:1', headers: {}, limits: {} } as unknown as Route,
      1_000,
    )
    route.identified = true
    return route
  })
  const configured = ids.map(id => ({ id, private: id.startsWith('relay') })) as Route[]
  const network: Chain = { slug: 'eth', cache: { tip: 0 }, finality, routes: configured }
  t.teardown(() => Promise.all(routes.map(route => route.destroy())))
  const of = new Finality()
  const resets: (string | null)[] = []
  of.whenReset((_, why) => resets.push(why))
  const clock = { now: 0 }
  return {
    network,
    routes,
    of,
    resets,
    clock,
    /** What each route reports, in their order; undefined is nothing new. */
    report: (...finals: readonly (number | null | undefined)[]) => {
      for (const [i, number] of finals.entries())
        if (number !== undefined)
          of.take(network, routes[i]!, number === null ? null : { number, hash: `"0x${number}"` })
      of.update(network, routes, clock.now)
      return of.of('eth')
    },
  }
}

t.test('a block is final once two routes report it, or the only one does', t => {
  const one = chain(['a'])
  t.equal(one.report(5), 5)
  const relayed = chain(['relay', 'a'])
  t.equal(relayed.report(9, 5), 5, 'a private route is not waited for, and decides nothing')
  t.equal(chain(['relay-a', 'relay-b']).report(5, 7), 5, 'unless there is no other')
  const three = chain(['a', 'b', 'c'])
  t.equal(three.report(7), null, 'what one says alone is not enough')
  t.equal(three.report(undefined, 1_000_000), 7, 'a liar raises nothing')
  t.equal(three.report(undefined, undefined, 9), 9)
  t.equal(three.report(3, undefined, 3), 9, 'it never falls by itself')
  t.equal(three.of.hasFinal(three.network, three.routes[1]!, 9), true)
  t.equal(three.of.hasFinal(three.network, three.routes[0]!, 9), false, 'that route has not come there')
  t.equal(three.of.hasFinal(three.network, three.routes[1]!, 10), false)
  t.end()
})

t.test('routes that are ill or not known to be of the chain do not count', t => {
  const { routes, report } = chain(['a', 'b'])
  routes[1]!.identified = false
  t.equal(report(5, 5), null)
  routes[1]!.identified = true
  t.equal(report(), 5)
  t.end()
})

t.test('a number of blocks below the heads', t => {
  const { routes, report, of, network } = chain(['a', 'b'], 64)
  routes[0]!.head = 100
  t.equal(report(), null)
  routes[1]!.head = 90
  t.equal(report(), 26)
  t.equal(of.hasFinal(network, routes[1]!, 26), true)
  t.end()
})

t.test('another hash for a final block drops what is kept', t => {
  const { of, network, routes, report, resets } = chain(['a', 'b'])
  report(5, 5)
  of.take(network, routes[1]!, { number: 5, hash: '"0xother"' })
  t.strictSame(resets, ['b reports another hash for the final block 5'])
  t.equal(of.of('eth'), null)
  t.equal(report(), 5, 'the next probe says what is final now')
  of.take(network, routes[1]!, { number: 9, hash: '"0xnine"' })
  of.take(network, routes[0]!, { number: 9, hash: '"0xelse"' })
  t.equal(resets.length, 1, 'of a block that is not final nothing is held against anybody')
  t.end()
})

t.test('bug: where no tag names the final block a deeper reorganization went unnoticed', t => {
  const { of, network, routes, report, resets } = chain(['a', 'b'], 4)
  const [a, b] = routes as [LiveRoute, LiveRoute]
  t.strictSame(of.toShow(network), [], 'nothing is final yet')
  a.head = b.head = 104
  t.equal(report(), 100)
  t.strictSame(of.toShow(network), [100], 'its hash is not known')
  of.show(network, a, { number: 100, hash: '"0x1"' })
  t.strictSame(of.toShow(network), [100], 'every route shows it')
  of.show(network, b, { number: 100, hash: '"0x1"' })
  a.head = b.head = 110
  t.equal(report(), 106)
  t.strictSame(of.toShow(network), [106, 100], 'the newer one first, so that the older one vouches for it')
  of.show(network, a, { number: 106, hash: '"0x2"' })
  t.strictSame(of.toShow(network), [106])
  t.strictSame(resets, [])
  a.head = b.head = 120
  report()
  of.show(network, b, { number: 116, hash: '"0xthree"' })
  of.show(network, b, { number: 106, hash: '"0xother"' })
  t.strictSame(resets, ['b reports another hash for the final block 106'])
  t.equal(of.of('eth'), null)
  t.end()
})

t.test('bug: of a block that was final by its tag the hash was not looked at again', t => {
  const { of, network, routes, report, resets } = chain(['a', 'b'], 'safe')
  report(5, 5)
  t.strictSame(of.toShow(network), [5])
  report(9)
  t.strictSame(of.toShow(network), [5], 'what only one calls final does not stand for what is kept')
  report(undefined, 9)
  t.strictSame(of.toShow(network), [9])
  of.show(network, routes[0]!, { number: 9, hash: null })
  t.strictSame(resets, [], 'a node that shows no hash says nothing')
  of.show(network, routes[0]!, { number: 9, hash: '"0xother"' })
  t.strictSame(resets, ['a reports another hash for the final block 9'])
  t.end()
})

t.test('when all routes report less for a minute, another chain is behind them', t => {
  const { report, resets, clock, of } = chain(['a', 'b'])
  report(100, 100)
  report(5, undefined)
  clock.now = 120_000
  t.equal(report(), 100, 'one is not all')
  report(undefined, 5)
  clock.now += 59_999
  t.equal(report(), 100)
  clock.now += 1
  t.equal(report(), 5)
  t.strictSame(resets, ['all routes report a final block below 100'])
  const { epoch } = of.report({ slug: 'eth', finality: 'finalized' })
  t.match(epoch, / 1$/)
  t.end()
})

t.test('a follower takes what the process that probes knows, and drops when that has', t => {
  const probing = chain(['a', 'b'])
  const following = chain(['a', 'b'])
  const tell = () => {
    following.of.takeReport(following.network, probing.of.report(probing.network))
  }
  probing.report(7, 7)
  tell()
  t.equal(following.of.of('eth'), 7)
  t.strictSame(following.resets, [])
  probing.of.take(probing.network, probing.routes[0]!, { number: 7, hash: '"0xother"' })
  tell()
  t.strictSame(following.resets, [null], 'it is the other one that logs and counts')
  following.of.takeReport({ slug: 'eth', finality: 64 }, probing.of.report(probing.network))
  const other = new Finality()
  other.takeReport({ slug: 'eth', finality: 'safe' }, { by: 'finalized', final: 9, epoch: '1 0' })
  t.equal(other.of('eth'), null, 'that was said of another finality')
  t.end()
})

t.test('routes that cannot say are told of once', t => {
  const { of, report } = chain(['a', 'b'])
  const told: string[] = []
  of.whenUnknown(slug => told.push(slug))
  report(null)
  t.strictSame(told, [])
  report(null, null)
  report(null, null)
  t.strictSame(told, ['eth'])
  t.equal(of.of('eth'), null)
  t.end()
})
