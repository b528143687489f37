import fc from 'fast-check'
import t from 'tap'
import { believe, highest } from '../../src/routes/claims.ts'
import { LiveRoute } from '../../src/routes/live-route.ts'
import { Heads } from '../../src/routes/heads.ts'
import type { Route } from '../../src/snapshot/types.ts'

const network = { slug: 'eth', family: 'evm', maxLag: { unit: 'ms', value: 30_000 } } as const

function live(id: string): LiveRoute {
  const route = {
    id,
    network: 'eth',
    http: 'http://127.0.0.1:1',
    headers: {},
    limits: { inFlight: null, perSecond: null },
  }
  return new LiveRoute(route as unknown as Route, 1_000)
}

/** Three routes, and what they claim one behind the other. */
function scene(count = 3) {
  const heads = new Heads()
  const routes = Array.from({ length: count }, (_, n) => live(`r${n}`))
  const claim = (n: number, height: number, now: number) => {
    heads.claim(network, routes[n]!, height, routes, now)
  }
  return { heads, routes, claim }
}

t.test('one route that claims 2^53-1 gets nothing by it', t => {
  const { heads, routes, claim } = scene()
  claim(0, Number.MAX_SAFE_INTEGER, 0)
  claim(1, 1_000, 10)
  claim(2, 1_001, 20)
  t.equal(heads.best('eth'), 1_001)
  t.ok(heads.isConfirmed('eth'))
  claim(0, Number.MAX_SAFE_INTEGER, 5_000)
  t.equal(heads.best('eth'), 1_001)
  t.notOk(routes[0]!.hasReached(1_002, 'head', 5_000), 'it counts for what it could show')
  t.equal(routes[0]!.claimed, Number.MAX_SAFE_INTEGER, '/status shows what it claims')
  t.notOk(heads.needsProof('eth', routes[0]!, routes), 'no block counts against two that agree')
  t.equal(heads.lagOf(network, routes[1]!), 'none')
  t.end()
})

t.test('a bigger jump counts once a second route says so, or the route has shown the block', t => {
  const { heads, routes, claim } = scene()
  for (const n of [0, 1, 2]) claim(n, 1_000, 0)
  claim(0, 5_000, 1_000)
  t.equal(heads.best('eth'), 1_000)
  claim(1, 5_003, 2_000)
  t.equal(heads.best('eth'), 5_003)
  t.equal(routes[0]!.head, 5_000)
  t.end()
})

t.test('a block that one route shows does not count against two that agree', t => {
  const { heads, routes, claim } = scene()
  for (const n of [0, 1, 2]) claim(n, 1_000, 0)
  claim(2, 90_000, 3_000)
  heads.show(network, routes[2]!, 90_000, routes, 3_000)
  t.equal(heads.best('eth'), 1_000)
  t.equal(heads.lagOf(network, routes[0]!), 'none')
  for (let look = 1; look <= 200; look += 1) {
    const now = 3_000 + look * 5_000
    for (const n of [0, 1]) claim(n, 1_000 + Math.floor(now / 12_000), now)
    const lie = (heads.best('eth') ?? 0) + 60
    claim(2, lie, now)
    heads.show(network, routes[2]!, lie, routes, now)
  }
  const ahead = heads.best('eth')! - (1_000 + Math.floor(1_003_000 / 12_000))
  t.ok(ahead <= 64 + 4, `drifting upwards with blocks of its own, it is ahead by ${ahead}`)
  t.end()
})

/** What an honest node of a chain claims: a block every 12 s since the first moment. */
const honest = (now: number) => 1_000 + Math.floor(now / 12_000)

t.test('bug: of two routes that have agreed, one that makes up blocks took all reads', t => {
  for (const lie of [Number.MAX_SAFE_INTEGER, 101_000, 1_200]) {
    const { heads, routes, claim } = scene(2)
    for (let now = 0; now <= 60_000; now += 5_000) for (const n of [0, 1]) claim(n, honest(now), now)
    for (let now = 65_000; now <= 600_000; now += 5_000) {
      claim(0, lie, now)
      heads.show(network, routes[0]!, lie, routes, now)
      claim(1, honest(now), now)
      if (heads.best('eth') !== honest(now) || heads.lagOf(network, routes[1]!) !== 'none')
        t.fail(`after ${now} ms of ${lie} the head is ${heads.best('eth')}`)
    }
    t.ok(heads.isConfirmed('eth'))
    t.equal(heads.lagOf(network, routes[0]!), 'doubtful', 'it counts for what both had last')
    t.notOk(heads.isBehind(network, honest(600_000)))
    claim(0, honest(605_000), 605_000)
    t.equal(heads.lagOf(network, routes[0]!), 'none', 'it serves again when it tells the truth')
  }
  t.end()
})

t.test('bug: one of two routes that drifts upwards with blocks of its own was ahead without end', t => {
  const { heads, routes, claim } = scene(2)
  for (let now = 0; now <= 60_000; now += 5_000) for (const n of [0, 1]) claim(n, honest(now), now)
  let most = 0
  for (let now = 65_000; now <= 3_600_000; now += 5_000) {
    claim(1, honest(now), now)
    for (let more = now < 600_000 ? 64 : 80; more >= 60; more -= 1) {
      claim(0, honest(now) + more, now)
      heads.show(network, routes[0]!, honest(now) + more, routes, now)
      if (heads.best('eth') === honest(now) + more) break
    }
    most = Math.max(most, heads.best('eth')! - honest(now))
    if (heads.lagOf(network, routes[1]!) === 'certain' || heads.isBehind(network, honest(now)))
      t.fail(`after ${now} ms the honest one is shut out`)
  }
  t.ok(most >= 64 && most <= 64 + 5, `it is ahead by ${most} blocks at most`)
  t.end()
})

t.test(
  'of two routes that have agreed, the one that goes on is believed whatever becomes of the other',
  t => {
    const fast = (now: number) => 1_000 + Math.floor(now / 250)
    const stopped = () => fast(60_000)
    const others: readonly (readonly [string, (now: number) => number])[] = [
      ['stands still', stopped],
      ['is slower', now => stopped() + Math.floor((now - 60_000) / 1_000)],
      ['is much slower', now => stopped() + Math.floor((now - 60_000) / 20_000)],
      [
        'stands still for half an hour and catches up',
        now => stopped() + Math.max(0, Math.floor((now - 1_860_000) / 125)),
      ],
      ['stays a hundred behind', now => Math.max(stopped(), fast(now) - 100)],
      [
        'falls behind and catches up, again and again',
        now => fast(now) - Math.max(0, 40 + Math.floor(50 * Math.sin(now / 60_000))),
      ],
      ['begins anew', now => Math.floor(now / 1_000)],
    ]
    for (const [what, other] of others) {
      const { heads, routes, claim } = scene(2)
      for (let now = 0; now <= 60_000; now += 5_000) for (const n of [0, 1]) claim(n, fast(now), now)
      let wrong: number | null = null
      for (let now = 65_000; now <= 3_600_000; now += 5_000) {
        claim(0, Math.min(other(now), fast(now)), now)
        claim(1, fast(now), now)
        if (heads.best('eth') !== fast(now)) wrong ??= now
      }
      t.equal(wrong, null, what)
      t.equal(heads.lagOf(network, routes[1]!), 'none')
    }
    t.end()
  },
)

t.test('a jump of both routes is believed as soon as both have made it', t => {
  const { heads, claim } = scene(2)
  for (let now = 0; now <= 60_000; now += 5_000) for (const n of [0, 1]) claim(n, honest(now), now)
  claim(0, 90_000, 65_000)
  t.equal(heads.best('eth'), honest(60_000))
  claim(1, 90_003, 65_010)
  t.equal(heads.best('eth'), 90_003)
  t.ok(heads.isConfirmed('eth'))
  for (const n of [0, 1]) claim(n, 7, 70_000)
  t.equal(heads.best('eth'), 7, 'also downwards: a devnet begins anew')
  t.end()
})

t.test('what two routes agreed on holds in a process that follows the probes of another', t => {
  const there = scene(2)
  for (let now = 0; now <= 60_000; now += 5_000) for (const n of [0, 1]) there.claim(n, honest(now), now)
  there.claim(0, 101_000, 65_000)
  there.heads.show(network, there.routes[0]!, 101_000, there.routes, 65_000)
  const here = scene(2)
  const tip = there.heads.tipReport('eth', 65_000)!
  for (const [n, live] of there.routes.entries())
    here.heads.takeIn(here.routes[n]!, there.heads.reportOf(live, 65_000)!, 5)
  here.heads.takeTip('eth', tip, 5)
  here.heads.update(network, here.routes, 5)
  t.equal(here.heads.best('eth'), honest(60_000))
  t.strictSame(here.heads.tipReport('eth', 5), tip)
  t.end()
})

t.test('what the block time allows, times four, and 64 more, is plausible', t => {
  const { heads, claim } = scene()
  for (const n of [0, 1, 2]) claim(n, 1_000, 0)
  claim(0, 1_065, 0)
  t.equal(heads.best('eth'), 1_000)
  claim(0, 1_064, 0)
  t.equal(heads.best('eth'), 1_064)
  t.equal(highest({ height: 1_000, at: 0 }, 12_000, 120_000), 1_000 + 40 + 64)
  claim(1, 1_104, 120_000)
  t.equal(heads.best('eth'), 1_104)
  t.end()
})

t.test("plausible steps of one route do not add up, and do not set the network's pace", t => {
  const { heads, claim } = scene()
  for (const n of [0, 1, 2]) claim(n, 1_000, 0)
  for (let look = 1; look <= 720; look += 1) {
    const now = look * 5_000
    const honest = 1_000 + Math.floor(now / 12_000)
    claim(1, honest, now)
    claim(2, honest, now)
    for (const more of [1e6, 1e4, 1_000, 200, 100]) claim(0, honest + more, now)
    claim(0, (heads.best('eth') ?? 0) + 64, now)
  }
  const ahead = heads.best('eth')! - (1_000 + 300)
  t.ok(ahead <= 64 + 4, `after an hour it is ahead by ${ahead}`)
  t.end()
})

t.test("a single route's word is taken, and it is known to be just that", t => {
  const { heads, routes, claim } = scene(1)
  claim(0, Number.MAX_SAFE_INTEGER, 0)
  t.equal(heads.best('eth'), Number.MAX_SAFE_INTEGER)
  t.notOk(heads.isConfirmed('eth'))
  t.notOk(heads.needsProof('eth', routes[0]!, routes))
  claim(0, 7, 1_000)
  t.equal(heads.best('eth'), 7, 'a devnet begins anew')
  t.end()
})

t.test('of claims that contradict each other the one that is shown counts', t => {
  const { heads, routes, claim } = scene(2)
  claim(0, 2_000_000, 0)
  claim(1, 1_000, 0)
  t.equal(heads.best('eth'), 1_000)
  t.ok(routes.every(route => heads.needsProof('eth', route, routes)))
  heads.show(network, routes[0]!, 2_000_000, routes, 10)
  t.equal(heads.best('eth'), 2_000_000)
  t.equal(heads.lagOf(network, routes[1]!), 'certain')
  const near = scene(2)
  near.claim(0, 100, 0)
  near.claim(1, 1_000, 0)
  t.equal(near.heads.best('eth'), 1_000, 'a node may be far behind')
  near.heads.show(network, near.routes[0]!, 100, near.routes, 10)
  t.equal(near.heads.best('eth'), 100, 'unless it is the other that shows its block')
  t.end()
})

t.test('one claim among honest ones never moves what is believed beyond what is plausible', t => {
  fc.assert(
    fc.property(
      fc.integer({ min: 100, max: 1_000_000 }),
      fc.array(fc.integer({ min: 0, max: 30 }), { minLength: 2, maxLength: 5 }),
      fc.integer({ min: 0, max: Number.MAX_SAFE_INTEGER }),
      (height, behind, lie) => {
        const honest = behind.map(less => ({ height: height - less, at: 0, isShown: false }))
        const found = believe([...honest, { height: lie, at: 0, isShown: false }], -1, false)!
        return found.claim.height >= height - 30 && found.claim.height <= height + 64
      },
    ),
  )
  t.end()
})
