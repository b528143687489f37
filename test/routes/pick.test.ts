import t from 'tap'
import type { Route } from '../../src/snapshot/types.ts'
import { LiveRoute } from '../../src/routes/live-route.ts'
import { ableOf, contenders, pick } from '../../src/routes/pick.ts'
import type { Candidate, LagOf, Need, Picked } from '../../src/routes/pick.ts'
import { Heads } from '../../src/routes/heads.ts'
import { Random } from '../support/random.ts'

const NOW = 1_000_000

function candidate(id: string, more: Partial<Route> = {}): Candidate {
  const route: Route = {
    id,
    network: 'eth',
    http: 'http://127.0.0.1:1',
    ws: null,
    capabilities: [],
    history: null,
    priority: 1,
    weight: 1,
    headers: {},
    timeout: null,
    limits: { inFlight: null, perSecond: null },
    batch: 1,
    methods: { allow: null, deny: [] },
    errors: [],
    private: false,
    trace: false,
    enabled: true,
    ...more,
  }
  const live = new LiveRoute(route, 1_000)
  live.identified = true
  return { route, live }
}

const read: Need = { tip: false, atLeast: null, mayProbe: true }
const idOf = (picked: Picked): string => (typeof picked === 'string' ? picked : picked.route.id)
const lagOf: LagOf = ({ live }) =>
  live.head === null || live.head >= 90 ? 'none' : live.head >= 50 ? 'doubtful' : 'certain'
const choose = (able: readonly Candidate[], need: Partial<Need> = {}, now = NOW, random = () => 0): string =>
  idOf(pick(ableOf(able), { ...read, ...need }, lagOf, 'someone', now, random))
const fail = ({ live }: Candidate, times = 3): void => {
  for (let i = 0; i < times; i += 1) live.breaker.probeFailed('reset', NOW, false)
}

t.test('lower priorities serve only while no higher one can', t => {
  const [a, b] = [candidate('a'), candidate('b', { priority: 2 })]
  t.equal(choose([b, a]), 'a')
  fail(a)
  t.equal(choose([b, a]), 'b')
  fail(b)
  t.equal(choose([b, a]), 'a', 'the last ones are never shut out')
  t.equal(choose([]), 'none')
  t.end()
})

t.test('a route whose chain is not known yet serves only while no other can', t => {
  const [a, b] = [candidate('a'), candidate('b', { priority: 2 })]
  a.live.identified = false
  t.equal(choose([a, b]), 'b')
  t.equal(choose([a]), 'a')
  t.end()
})

t.test('a wrong chain or a pause the upstream asked for is final', t => {
  const [a, b] = [candidate('a'), candidate('b')]
  a.live.fault = 'it serves chain 5, not 1'
  t.equal(choose([a, b]), 'b')
  b.live.pauses.complain({ about: 'limited', asked: 2_000, from: 'status' }, NOW)
  t.equal(choose([a, b]), 'none')
  t.equal(choose([a, b], {}, NOW + 2_000), 'b')
  t.end()
})

t.test('reads of the newest block keep to routes that have it', t => {
  const [a, b] = [candidate('a'), candidate('b', { priority: 2 })]
  a.live.head = 80
  b.live.head = 100
  t.equal(choose([a, b]), 'a')
  t.equal(choose([a, b], { tip: true }), 'b')
  a.live.head = 95
  t.equal(choose([a, b], { tip: true }), 'a')
  t.equal(choose([a, b], { tip: true, atLeast: 98 }), 'b', 'what was shown is a floor')
  t.equal(choose([a, b], { atLeast: 101 }), 'a', 'unless no route reports it')
  t.end()
})

t.test(
  'a route that claims to be a little ahead does not keep reads of the newest block once it fails',
  t => {
    const [ahead, honest, far] = [candidate('ahead'), candidate('honest', { priority: 2 }), candidate('far')]
    ahead.live.head = 100
    honest.live.head = 60
    far.live.head = 10
    t.equal(choose([ahead, honest, far], { tip: true }), 'ahead')
    t.equal(choose([ahead, honest, far], { tip: true, atLeast: 100 }), 'ahead')
    t.equal(choose([honest, far], { tip: true }), 'honest', 'nor does a try that it has failed end the call')
    fail(ahead)
    t.equal(choose([ahead, honest, far], { tip: true, atLeast: 100 }), 'honest')
    fail(honest)
    t.equal(choose([ahead, honest, far], { tip: true }), 'ahead', 'one that is surely behind serves none')
    t.end()
  },
)

t.test('after the pause one call that may be repeated is let through', t => {
  const [a, b] = [candidate('a'), candidate('b', { priority: 2 })]
  fail(a)
  t.equal(choose([a, b], {}, NOW + 4_999), 'b')
  t.equal(choose([a, b], { mayProbe: false }, NOW + 5_000), 'b')
  t.equal(choose([a, b], {}, NOW + 5_000), 'a')
  t.equal(choose([a, b], {}, NOW + 5_000), 'b', 'only one')
  a.live.breaker.failed('someone', 'reset', NOW + 5_001)
  t.equal(choose([a, b], {}, NOW + 14_999), 'b', 'the pause doubles')
  t.equal(choose([a, b], {}, NOW + 15_001), 'a')
  a.live.breaker.succeeded('someone')
  t.equal(choose([a, b], {}, NOW + 15_001), 'a')
  t.end()
})

t.test('a full route counts as not able, and all full is said as such', t => {
  const a = candidate('a', { limits: { inFlight: 1, perSecond: null } })
  const b = candidate('b', { priority: 2, limits: { inFlight: null, perSecond: 2 } })
  a.live.limits.enter()
  t.equal(choose([a, b]), 'b')
  b.live.limits.enter()
  t.equal(choose([a, b]), 'b')
  b.live.limits.enter()
  t.equal(choose([a, b]), 'full')
  t.equal(choose([a, b], {}, NOW + 500), 'b', 'a token came back')
  a.live.limits.leave()
  t.equal(choose([a, b]), 'a')
  t.end()
})

t.test('idle routes share by weight, busy ones by work', t => {
  const [a, b] = [candidate('a', { weight: 3 }), candidate('b')]
  let seed = 1
  const random = (): number => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647
  let first = 0
  for (let i = 0; i < 4000; i += 1) if (choose([a, b], {}, NOW, random) === 'a') first += 1
  t.ok(Math.abs(first / 4000 - 0.75) < 0.03, String(first))
  a.live.latency.add(100)
  b.live.latency.add(100)
  for (let i = 0; i < 10; i += 1) a.live.limits.enter()
  const draws = [0, 0.99]
  t.equal(
    choose([a, b], {}, NOW, () => draws.shift() ?? 0),
    'b',
  )
  t.end()
})

t.test('whatever routes are like, one of the contenders is picked, each as often as its weight says', t => {
  const random = new Random(7)
  const draw = (): number => random.below(2 ** 30) / 2 ** 30
  const [own, need] = ['someone', { ...read, tip: true, atLeast: 60 }]
  for (let n = 0; n < 200; n += 1) {
    const able = Array.from({ length: 1 + random.below(6) }, (_, i) => {
      const made = candidate(`r${i}`, { priority: 1 + random.below(2), weight: 1 + random.below(4) })
      const { live } = made
      live.head = random.pick([null, 40, 70, 100, 100, 100])
      live.identified = random.below(8) > 0
      live.syncing = random.below(8) === 0
      if (random.below(8) === 0) live.fault = 'it serves chain 5, not 1'
      if (random.below(8) === 0) live.pauses.complain({ about: 'limited', asked: 2_000, from: 'status' }, NOW)
      if (random.below(8) === 0) fail(made)
      return made
    })
    const among = contenders(able, need, lagOf, own, NOW)
    const times = new Map<string, number>()
    const PICKS = 400
    for (let i = 0; i < PICKS; i += 1) {
      const id = idOf(pick(ableOf(able), need, lagOf, own, NOW, draw))
      times.set(id, (times.get(id) ?? 0) + 1)
    }
    if (typeof among === 'string') t.strictSame([...times.keys()], [among])
    else {
      const whole = among.reduce((sum, { route }) => sum + route.weight, 0)
      const shares = among.map(({ route: { id, weight } }) => {
        const [share, expected] = [(times.get(id) ?? 0) / PICKS, weight / whole]
        return Math.abs(share - expected) < 0.12
      })
      t.strictSame(
        [shares, [...times.keys()].filter(id => !among.some(({ route }) => route.id === id))],
        [among.map(() => true), []],
      )
    }
  }
  t.end()
})

t.test("lag is measured by the network's own pace", t => {
  const heads = new Heads()
  const { live } = candidate('a')
  const network = { slug: 'eth', maxLag: { unit: 'ms', value: 30_000 } } as const
  heads.claim(network, live, 100, [live], NOW)
  heads.claim(network, live, 110, [live], NOW + 2_500) // 250 ms a block: 30 s are 120 blocks
  t.equal(heads.best('eth'), 110)
  t.equal(heads.lagOf(network, { head: -10 }), 'none')
  t.equal(heads.lagOf(network, { head: -11 }), 'doubtful', 'no more than one route may claim alone')
  t.equal(heads.lagOf(network, { head: 110 - 64 - 240 }), 'doubtful')
  t.equal(heads.lagOf(network, { head: 110 - 64 - 241 }), 'certain')
  t.equal(
    heads.lagOf({ slug: 'eth', maxLag: { unit: 'blocks', value: 0 } }, { head: 108 }),
    'none',
    'two blocks always are allowed',
  )
  t.equal(heads.lagOf({ slug: 'eth', maxLag: { unit: 'blocks', value: 0 } }, { head: 107 }), 'doubtful')
  live.syncing = true
  heads.claim(network, live, 500, [live], NOW + 3_000)
  t.equal(heads.best('eth'), 110, 'a syncing node says nothing of the tip')
  t.end()
})
