import t from 'tap'
import { LiveRoute } from '../../src/routes/live-route.ts'
import type { Candidate } from '../../src/routes/pick.ts'
import { spread } from '../../src/routes/spread.ts'
import type { Route } from '../../src/snapshot/types.ts'

const NOW = 1_000_000

function candidate(id: string, more: Partial<Route> = {}): Candidate {
  const route: Route = {
    id,
    network: 'eth',
    http: `http://${id}.test/key`,
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

const need = { tip: true, atLeast: null, mayProbe: false }
const first = candidate('first')

/** The routes beside the first one; those behind have a head of 0. */
function beside(able: readonly Candidate[], most = 7, now = NOW): string[] {
  const lagOf = ({ live }: Candidate) => (live.head === 0 ? ('certain' as const) : ('none' as const))
  return spread(first, able, { need, caller: 'someone' }, lagOf, now, most).map(({ route }) => route.id)
}

t.test('as many as are wanted, whatever their priority, the lower ones first', t => {
  const able = [
    candidate('c', { priority: 3 }),
    candidate('b', { priority: 2 }),
    candidate('d', { priority: 4 }),
  ]
  t.strictSame(beside(able), ['b', 'c', 'd'])
  t.strictSame(beside(able, 2), ['b', 'c'])
  t.strictSame(beside([]), [])
  t.end()
})

t.test('each goes to another upstream: a host and port', t => {
  const able = [
    candidate('again', { http: 'http://first.test/another-key' }),
    candidate('b', { http: 'http://b.test:8545' }),
    candidate('b2', { http: 'http://b.test:8545/v2', priority: 2 }),
    candidate('b3', { http: 'http://b.test:8546', priority: 3 }),
  ]
  t.strictSame(beside(able), ['b', 'b3'])
  t.end()
})

t.test('none that is ill, half-open, unknown, paused, full or behind', t => {
  const ill: Record<string, (live: LiveRoute) => void> = {
    fault: live => (live.fault = 'it serves chain 5, not 1'),
    unknown: live => (live.identified = false),
    syncing: live => (live.syncing = true),
    behind: live => (live.head = 0),
    full: live => {
      live.limits.enter()
    },
    paused: live => {
      live.pauses.complain({ about: 'limited', asked: 60_000, from: 'status' }, NOW)
    },
    failed: live => {
      for (let n = 0; n < 3; n += 1) live.breaker.probeFailed('reset', NOW, false)
    },
  }
  const able = Object.keys(ill).map(id => candidate(id, { limits: { inFlight: 1, perSecond: null } }))
  t.equal(beside(able).length, able.length)
  for (const { route, live } of able) ill[route.id]!(live)
  t.strictSame(beside(able), [])
  const after = NOW + 5_000
  t.equal(able.find(({ route }) => route.id === 'failed')!.live.breaker.state(after), 'half-open')
  t.strictSame(beside(able, 7, after), [], 'a route is not tried out with a transaction')
  t.equal(able.find(({ route }) => route.id === 'failed')!.live.breaker.state(after), 'half-open')
  t.end()
})
