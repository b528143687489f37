import { mock } from 'node:test'
import t, { type Test } from 'tap'
import type { StalledParts } from '../../src/subscriptions/shared/stalled.ts'
import { Progress } from '../../src/subscriptions/shared/progress.ts'
import { StalledWatch } from '../../src/subscriptions/shared/stalled.ts'

interface Route {
  /** Its head by probes. */
  head: number | null
  whyNot?: string | null
  trouble?: number
  ws?: string | null
}

/** A socket to route a in a network whose best head is 100; gives the second at which it was cut, null when it never was. */
function cutAfter(
  t: Test,
  routes: Readonly<Record<string, Route>>,
  act: (progress: Progress, second: number) => void,
) {
  let [now, cut] = [0, null as number | null]
  t.intercept(performance, 'now', { value: () => now })
  mock.timers.enable({ apis: ['setInterval'] })
  const progress = new Progress()
  const socket = { routeId: 'a', progress, drop: () => (cut ??= now / 1_000) }
  const ids = Object.entries(routes).map(([id, { ws = 'ws://x' }]) => ({ id, ws }))
  const watch = new StalledWatch({
    sockets: { opened: () => [socket], trouble: (id: string) => routes[id]?.trouble ?? 0 },
    upstreams: {
      get: () => ({ network: 'eth' }),
      whyNot: (_: unknown, id: string) => routes[id]?.whyNot ?? null,
      isBehind: (_: unknown, height: number) => height < 98,
      certainHead: (id: string) => routes[id]?.head ?? null,
    },
    networkOf: (slug: string) => (slug === 'eth' ? { routes: ids } : undefined),
  } as unknown as StalledParts)
  for (let second = 1; second <= 20; second += 1) {
    now = second * 1_000
    act(progress, second)
    mock.timers.tick(1_000)
  }
  watch.close()
  mock.timers.reset()
  return cut
}
const heads = (height: number) => (progress: Progress, second: number) => {
  if (second === 1) progress.enter()
  progress.show(height)
}
const nothing = (): void => undefined

t.test('a socket whose heads stay behind its own route is cut after five seconds', t => {
  t.equal(cutAfter(t, { a: { head: 100 } }, heads(90)), 6)
  t.equal(cutAfter(t, { a: { head: 100 } }, heads(98)), null)
  t.equal(cutAfter(t, { a: { head: 100 } }, nothing), null, 'one without heads is as far as its route')
  t.equal(cutAfter(t, { a: { head: null }, b: { head: 100 } }, heads(90)), null, 'nothing certain is known')
  const catchesUp = (progress: Progress, second: number): void => {
    heads(90)(progress, second)
    if (second === 5) progress.show(99)
  }
  t.equal(cutAfter(t, { a: { head: 100 } }, catchesUp), null)
  t.end()
})

t.test('where the route itself is behind, only another that is well makes a difference', t => {
  const behind = { head: 90 }
  t.equal(cutAfter(t, { a: behind }, nothing), null)
  t.equal(cutAfter(t, { a: behind, b: { head: 100 } }, nothing), 6)
  for (const other of [
    { head: 90 },
    { head: null },
    { head: 100, whyNot: 'circuit open' },
    { head: 100, trouble: 1 },
    { head: 100, ws: null },
  ])
    t.equal(cutAfter(t, { a: behind, b: other }, nothing), null, JSON.stringify(other))
  t.end()
})
