import t from 'tap'
import type { Context } from '../../src/call/context.ts'
import { lastRefusal, tryInTurn } from '../../src/call/node/attempts.ts'
import type { Bounds, Try, Wanted } from '../../src/call/node/attempts.ts'
import { refuse } from '../../src/refusal/refusal.ts'
import type { Picked } from '../../src/routes/pick.ts'
import { failure } from '../../src/routes/transport/verdict.ts'
import type { Failure } from '../../src/routes/transport/verdict.ts'
import { TestClock } from '../support/test-clock.ts'

const failed = (why: string, more: Partial<Failure> = {}): Failure => ({
  ...failure(why, refuse('upstream_error'), true),
  ...more,
})
const detour = (why: string): Failure => failed(why, { detour: true, fault: false })
const unsent = failed('unreachable', { sent: false })

interface Scene {
  readonly routes?: readonly string[]
  readonly archive?: readonly string[]
  readonly repeat?: Bounds['repeat']
  /** How many times the budget lets a call be sent again. */
  readonly budget?: number
  /** Routes that are thought not to have the method. */
  readonly unsupported?: readonly string[]
  /** Milliseconds that each try takes. */
  readonly takes?: number
  readonly isGone?: () => boolean
  /** What is picked; the first route that was not tried without it. */
  readonly pick?: (able: readonly string[], tried: readonly string[]) => string
  /** Whether a second try beside the first is begun. */
  readonly hedges?: boolean
  /** How many routes it is sent to at once. */
  readonly spread?: number
  /** Routes that have not come to what the call reads. */
  readonly behind?: readonly string[]
}

/** Tries with these verdicts, one a try; gives how it ended and, of each try, its route, whether one before it was sent, and the time left. */
async function tries(verdicts: readonly Failure[], scene: Scene = {}) {
  const { routes = ['a', 'b', 'c', 'd'], archive = [], repeat = 'safe', unsupported = [], takes = 0 } = scene
  const clock = new TestClock()
  const seen: string[] = []
  let left = scene.budget ?? Infinity
  const first = (able: readonly string[], tried: readonly string[]): string =>
    able.find(id => !tried.includes(id)) ?? 'none'
  const upstreams = {
    budget: () => ({ call: () => undefined, take: () => (left -= 1) >= 0 }),
    unsupported: { among: () => unsupported },
    behind: () => scene.behind ?? [],
    beside: (_: unknown, call: Wanted, tried: readonly string[], __: number, most: number): unknown =>
      call.routes
        .filter(id => !tried.includes(id))
        .slice(0, most)
        .map(id => ({ route: { id } })),
    pick: (_: unknown, able: readonly string[], tried: readonly string[]): unknown => {
      const id = (scene.pick ?? first)(able, tried)
      return id === 'none' || id === 'full' ? id : { route: { id } }
    },
    closed: false,
  }
  const wanted = {
    network: { slug: 'eth' },
    row: { rule: { timeout: 'fast' }, archive },
    routes,
    need: {},
    method: 'm',
    caller: 'c',
  } as unknown as Wanted
  const pending = [...verdicts]
  const tryOne = ({ picked, left: ms, sentBefore, another, beside }: Try) => {
    const second: Picked = scene.hedges === true ? another() : 'none'
    const more = scene.spread === undefined ? [] : beside(scene.spread - 1)
    const id = [picked, ...(typeof second === 'string' ? more : [second])]
      .map(({ route }) => route.id)
      .join('+')
    seen.push(`${id}${sentBefore ? ' again' : ''} ${ms}`)
    clock.advance(takes)
    return Promise.resolve({ verdict: pending.shift() ?? ({ kind: 'result' } as const), candidate: picked })
  }
  const bounds = { repeat, isGone: scene.isGone ?? (() => false) }
  const context = { live: { upstreams, clock }, renew: () => null } as unknown as Context
  const ending = tryInTurn(wanted, bounds, context, tryOne)
  // Who waits for room is woken by the clock.
  for (let i = 0; i < 120; i += 1) {
    await new Promise(resolve => setImmediate(resolve))
    if (clock.waiting === 0) break
    clock.advance(20)
  }
  const { kind } = await ending
  return { kind, tries: seen, at: clock.monotonic() - 1_000 }
}
const routesOf = async (verdicts: readonly Failure[], scene: Scene = {}): Promise<string> => {
  const { kind, tries: seen } = await tries(verdicts, scene)
  return `${seen.map(line => line.replace(/ \d+$/, '')).join(', ')}: ${kind}`
}

t.test('a call goes to at most three routes, none of them twice', async t => {
  const down = failed('timeout')
  t.equal(await routesOf([]), 'a: answered')
  t.equal(await routesOf([down, down]), 'a, b again, c again: answered')
  t.equal(await routesOf([down, down, down]), 'a, b again, c again: failed')
  t.equal(await routesOf([down, down], { routes: ['a'] }), 'a: failed')
  t.equal(await routesOf([], { routes: [] }), ': failed')
})

t.test('what a node may have seen goes to another as the retry class says', async t => {
  const { repeat, ...cases } = {
    repeat: ['safe', 'dedupe', 'never'] as const,
    timeout: failed('timeout'),
    unreachable: unsent,
    internal: failed('internal'),
    too_large: failed('too_large', { sent: true }),
    no_room: failed('no_room', { sent: false }),
  }
  const found: Record<string, string[]> = {}
  for (const [why, verdict] of Object.entries(cases))
    found[why] = await Promise.all(repeat.map(each => routesOf([verdict], { repeat: each })))
  t.strictSame(found, {
    timeout: ['a, b again: answered', 'a, b again: answered', 'a: failed'],
    unreachable: ['a, b: answered', 'a, b: answered', 'a, b: answered'],
    internal: ['a, b again: answered', 'a: failed', 'a: failed'],
    too_large: ['a: failed', 'a: failed', 'a: failed'],
    no_room: ['a: failed', 'a: failed', 'a: failed'],
  })
  t.equal(await routesOf([failed('internal'), failed('internal')]), 'a, b again: failed', 'two nodes agree')
})

t.test('a node that said why it would not take the call has not acted on it', async t => {
  const said = { kind: 'error', error: '{}', code: -32000, message: '' } as const
  const limited = failed('limited', { complaint: { about: 'limited', asked: 0, from: 'text' } })
  t.equal(await routesOf([limited], { repeat: 'dedupe' }), 'a, b: answered')
  t.equal(await routesOf([failed('behind', { said })], { repeat: 'dedupe' }), 'a, b: answered')
  t.equal(await routesOf([failed('stray_reply', { said })], { repeat: 'dedupe' }), 'a, b again: answered')
})

t.test('every route after a failure takes from the budget, a detour does not', async t => {
  const down = failed('timeout')
  t.equal(await routesOf([down, down], { budget: 1 }), 'a, b again: failed')
  t.equal(await routesOf([down, down], { budget: 0 }), 'a: failed')
  t.equal(
    await routesOf([detour('behind'), detour('behind')], { budget: 0 }),
    'a, b again, c again: answered',
  )
  t.equal(await routesOf([failed('timeout')], { budget: 1, repeat: 'never' }), 'a: failed')
  t.equal(await routesOf([down], { budget: 1, hedges: true }), 'a+b: failed', 'a second try takes too')
  t.equal(await routesOf([down], { hedges: true }), 'a+b, c+d again: answered')
  const hedged = { hedges: true, behind: ['b', 'c'] }
  t.equal(await routesOf([], hedged), 'a+d: answered', 'no second try where an older answer would win')
  t.equal(await routesOf([down], hedged), 'a+d, b again: answered', 'but better an older one than none')
})

t.test(
  'the same route is asked once more after a cut connection, or where a safe read has no other',
  async t => {
    const reset = failed('reset')
    const alone: Scene = { routes: ['a'] }
    t.equal(await routesOf([reset], alone), 'a, a again: answered')
    t.equal(await routesOf([reset, reset], alone), 'a, a again: failed')
    t.equal(await routesOf([reset], { routes: ['a'], repeat: 'never' }), 'a: failed')
    t.equal(await routesOf([failed('http_503')], alone), 'a, a again: answered')
    t.equal(await routesOf([failed('http_503'), failed('http_503')], alone), 'a, a again: failed')
    t.equal(await routesOf([failed('http_503')], { routes: ['a'], repeat: 'dedupe' }), 'a: failed')
    t.equal(await routesOf([failed('http_504')], alone), 'a: failed')
    t.equal(await routesOf([failed('http_503')], { routes: ['a', 'b'] }), 'a, b again: answered')
  },
)

t.test('after missing state only an archive is asked, while there is one', async t => {
  const missing = detour('missing')
  t.equal(await routesOf([missing], { archive: ['d'] }), 'a, d again: answered')
  t.equal(await routesOf([missing, missing], { archive: ['d'] }), 'a, d again, b again: answered')
  t.equal(await routesOf([detour('behind')], { archive: ['d'] }), 'a, b again: answered')
})

t.test('routes thought not to have the method come last', async t => {
  t.equal(await routesOf([], { unsupported: ['a', 'b'] }), 'c: answered')
  const none: Scene = { routes: ['a', 'b'], unsupported: ['a', 'b'] }
  t.equal(await routesOf([], none), 'a: answered')
  t.equal(await routesOf([detour('unsupported')], none), 'a: failed', 'the other one said the same before')
  t.equal(await routesOf([failed('timeout')], none), 'a, b again: answered', 'a failure says nothing of it')
  t.equal(await routesOf([detour('unsupported')]), 'a, b again: answered')
})

t.test('a call goes to several routes at once, and then to the others in turn', async t => {
  const down = failed('timeout')
  t.equal(await routesOf([], { spread: 3 }), 'a+b+c: answered')
  t.equal(await routesOf([down], { spread: 3 }), 'a+b+c, d again: answered')
  t.equal(await routesOf([down, down, down], { spread: 2 }), 'a+b, c again, d again: failed')
  t.equal(await routesOf([down], { spread: 4 }), 'a+b+c+d: failed')
  t.equal(await routesOf([], { spread: 2, unsupported: ['b'] }), 'a+c: answered')
})

t.test('nothing is tried for a client that left', async t => {
  const gone = { isGone: () => true }
  t.equal(await routesOf([failed('aborted')], gone), 'a: abandoned')
  t.equal(await routesOf([failed('timeout')], gone), 'a: failed')
  t.equal(await routesOf([], gone), 'a: answered')
})

t.test('all tries share one deadline', async t => {
  const down = failed('timeout')
  t.strictSame(await tries([down, down], { takes: 7_499 }), {
    kind: 'answered',
    at: 22_497,
    tries: ['a 15000', 'b again 7501', 'c again 2'],
  })
  t.match(await tries([down, down], { takes: 7_500 }), { kind: 'failed', tries: ['a 15000', 'b again 7500'] })
})

t.test('where every route is at its limits a call waits a second for room', async t => {
  let looks = 0
  const fullFor = (times: number) => () => (++looks <= times ? 'full' : 'a')
  t.strictSame(await tries([], { pick: fullFor(3) }), { kind: 'answered', tries: ['a 14940'], at: 60 })
  looks = 0
  t.match(await tries([], { pick: fullFor(50) }), { kind: 'answered', at: 1_000 })
  looks = 0
  t.strictSame(await tries([], { pick: fullFor(51) }), { kind: 'full', tries: [], at: 1_000 })
})

t.test('a call that no route answered is refused with the last failure, or because we close', t => {
  const at = (closed: boolean) => ({ live: { upstreams: { closed } } }) as unknown as Context
  const late = failed('timeout', { refusal: refuse('upstream_timeout') })
  t.equal(lastRefusal([], at(false)).reason, 'no_route')
  t.equal(lastRefusal([unsent, late], at(false)).reason, 'upstream_timeout')
  t.equal(lastRefusal([late], at(true)).reason, 'no_route')
  t.end()
})
