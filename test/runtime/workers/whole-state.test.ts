import t from 'tap'
import type { NetworkState, RouteState } from '../../../src/routes/network-state.ts'
import type { WorkerState } from '../../../src/runtime/workers/messages.ts'
import { wholeState } from '../../../src/runtime/workers/whole-state.ts'

const route: RouteState = {
  id: 'a',
  healthy: true,
  head: 7,
  lag: 0,
  latencyMs: 0,
  inFlight: 0,
  capabilities: [],
}
const network = (more: Partial<RouteState>): NetworkState => ({
  slug: 'eth',
  head: 7,
  routes: [{ ...route, ...more }],
})

/** The route as the keeper tells of it, whose workers have these to tell. */
function whole(...workers: readonly Partial<RouteState>[]): RouteState {
  const placed = workers.map((more, at) => ({
    slot: at + 1,
    told: { networks: [network(more)] } as unknown as WorkerState,
  }))
  return wholeState(network({}), placed).routes[0]!
}

t.test('what calls have found out about a route is put together from all workers', t => {
  t.strictSame(whole({}, {}), route)
  t.strictSame(whole({ unsupported: ['b', 'c'] }, {}, { unsupported: ['a', 'c'] }), {
    ...route,
    unsupported: ['a', 'b', 'c'],
  })
  t.equal(whole({ heldToPerSecond: 7.1 }, {}, { heldToPerSecond: 5.2 }).heldToPerSecond, 12.3)
  t.end()
})

t.test('until the keeper has probed, heads are those of its workers', t => {
  const own: NetworkState = { ...network({ head: null, lag: null }), head: null }
  const told = {
    networks: [{ ...network({ lag: 1 }), head: 8, headConfirmed: true }],
  } as unknown as WorkerState
  t.match(wholeState(own, [{ slot: 1, told }]), {
    head: 8,
    headConfirmed: true,
    routes: [{ healthy: true, head: 7, lag: 1 }],
  })
  t.match(wholeState(network({}), [{ slot: 1, told }]), { head: 7, routes: [{ head: 7, lag: 0 }] })
  t.match(wholeState(own, []), { head: null, routes: [{ head: null }] })
  t.end()
})
