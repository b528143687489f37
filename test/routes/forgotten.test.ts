/** When the node of a route has forgotten what it held for clients: their filters. */
import t from 'tap'
import { atOnce } from '../../src/reload/time-slices.ts'
import { Heads } from '../../src/routes/heads.ts'
import { RouteWatch } from '../../src/routes/health/route-watch.ts'
import type { RouteEvents } from '../../src/routes/health/route-watch.ts'
import { Upstreams } from '../../src/routes/upstreams.ts'
import { snapshotOf } from '../support/snapshot.ts'

const quiet: RouteEvents = {
  routeDown: () => undefined,
  routeUp: () => undefined,
  networkDown: () => undefined,
  networkUp: () => undefined,
}

t.test('a node has forgotten what it held before it was down for ten seconds, and nothing later', async t => {
  const snapshot = await snapshotOf(t)
  const upstreams = new Upstreams(new Heads())
  upstreams.adopt(atOnce(upstreams.open(snapshot)))
  t.teardown(() => upstreams.close())
  const live = upstreams.get('eth-a')!
  const watch = new RouteWatch(quiet)
  const check = (fault: string | null, now: number) => {
    live.fault = fault
    watch.check({ slug: 'eth' }, live, [live], now)
  }
  const forgotten = (since: number, now: number) => upstreams.hasForgotten('eth-a', since, now)

  t.notOk(forgotten(0, 50_000), 'it was never down')
  check('out', 100_000)
  check(null, 109_999)
  t.notOk(forgotten(50_000, 110_000), 'it was down for too short a time')
  check('out', 200_000)
  t.notOk(forgotten(50_000, 209_999))
  t.ok(forgotten(50_000, 210_000), 'while it is down')
  t.ok(forgotten(209_999, 210_000), 'and what it seems to have made since')
  check(null, 210_000)
  t.ok(forgotten(50_000, 210_001), 'and when it is back')
  t.notOk(forgotten(210_000, 210_001))
  check('out', 300_000)
  check(null, 300_001)
  t.ok(forgotten(50_000, 300_002), 'a short time down does not bring it back')
  t.notOk(forgotten(250_000, 300_002))
  t.ok(upstreams.hasForgotten('eth-b', 300_000, 300_002), 'a route that is not there')
})
