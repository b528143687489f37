import { mock } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import t from 'tap'
import type { Snapshot } from '../../src/snapshot/types.ts'
import type { LiveRoute } from '../../src/routes/live-route.ts'
import { Prober } from '../../src/routes/health/prober.ts'
import { Heads } from '../../src/routes/heads.ts'
import type { Upstreams } from '../../src/routes/upstreams.ts'
import { quiet } from '../support/probing-machine.ts'

/** A route that answers every question at once, and writes down who was asked for its head. */
function route(id: string, asked: string[]): LiveRoute {
  const fake = {
    id,
    identified: false,
    network: 'eth',
    downSince: null,
    slots: { at: () => null },
    breaker: { state: () => 'closed', probeFailed: () => undefined, probeSucceeded: () => undefined },
    whyNot: () => null,
    whyUnhealthy: () => null,
    whyDown: () => null,
    probe: (method: string) => {
      if (method === 'eth_blockNumber') asked.push(id)
      return Promise.resolve({ kind: 'result', result: method === 'eth_syncing' ? 'false' : '"0x1"' })
    },
  }
  return fake as unknown as LiveRoute
}

/** As much of a snapshot and of the live routes as the prober reads. */
function scene(live: LiveRoute[]): { upstreams: Upstreams; live: LiveRoute[]; snapshot: Snapshot } {
  const upstreams = { of: () => live, whenUnsure: () => undefined } as unknown as Upstreams
  const eth = { slug: 'eth', family: 'evm', chainId: 1, cache: null }
  const snapshot = { networks: { eth } } as unknown as Snapshot
  return { upstreams, live, snapshot }
}

async function pass(ms: number): Promise<void> {
  mock.timers.tick(ms)
  for (let i = 0; i < 10; i += 1) await turn()
}

t.beforeEach(() => {
  mock.timers.enable({ apis: ['setTimeout', 'setInterval', 'Date'] })
})
t.afterEach(() => {
  mock.timers.reset()
})

t.test('many routes are looked at twenty at a time, each once a round', async t => {
  const asked: string[] = []
  const live = Array.from({ length: 50 }, (_, n) => route(`r${n}`, asked))
  const { upstreams, snapshot } = scene(live)
  const prober = new Prober(upstreams, new Heads(), snapshot, quiet)
  t.teardown(() => {
    prober.close()
  })
  const rounds: number[] = []
  for (let i = 0; i < 4; i += 1) {
    await pass(i === 0 ? 0 : 50)
    rounds.push(asked.length)
  }
  t.strictSame(rounds, [20, 40, 50, 50])
  await pass(4_850)
  t.equal(asked.length, 70, 'the next round begins after five seconds')
})

t.test('after a reload new routes are looked at before those that wait, and none that is gone', async t => {
  const asked: string[] = []
  const live = Array.from({ length: 30 }, (_, n) => route(`r${n}`, asked))
  const { upstreams, snapshot } = scene(live)
  const prober = new Prober(upstreams, new Heads(), snapshot, quiet)
  t.teardown(() => {
    prober.close()
  })
  await pass(0)
  asked.length = 0
  const kept = live.slice(0, 25)
  live.splice(25, 5, route('new', asked))
  prober.watch(snapshot)
  await turn()
  await pass(50)
  t.strictSame(asked.slice(0, 1), ['new'])
  t.strictSame(
    asked.slice(1).toSorted(),
    kept
      .slice(20)
      .map(({ id }) => id)
      .toSorted(),
  )
})

t.test('whatever throws while a route is probed costs that probe only', async t => {
  const asked: string[] = []
  const bugs: [unknown, string][] = []
  const odd = route('odd', asked)
  const live = [odd, route('well', asked)]
  Object.assign(odd, { probe: () => Promise.reject(new TypeError('an odd reply')) })
  const { upstreams, snapshot } = scene(live)
  const prober = new Prober(upstreams, new Heads(), snapshot, { ...quiet, bug: (...bug) => bugs.push(bug) })
  t.teardown(() => {
    prober.close()
  })
  await pass(0)
  await pass(5_000)
  t.match(bugs, [
    [{ message: 'an odd reply' }, 'odd'],
    [{ message: 'an odd reply' }, 'odd'],
  ])
  t.strictSame(asked, ['well', 'well'])
})

t.test('a route that goes down and comes back is one line each, and so is its network', async t => {
  const lines: unknown[][] = []
  const say =
    (word: string) =>
    (...words: unknown[]): void => {
      lines.push([word, ...words])
    }
  const a = route('a', [])
  const b = route('b', [])
  const { upstreams, snapshot } = scene([a, b])
  let now = 0
  const prober = new Prober(
    upstreams,
    new Heads(),
    snapshot,
    {
      ...quiet,
      routeDown: say('down'),
      routeUp: say('up'),
      networkDown: say('none'),
      networkUp: say('some'),
    },
    { now: () => now },
  )
  t.teardown(() => {
    prober.close()
  })
  const set = async (live: LiveRoute, why: string | null): Promise<void> => {
    Object.assign(live, { whyNot: () => why, whyUnhealthy: () => why })
    now += 5_000
    await pass(5_000)
  }
  await pass(0)
  await set(a, 'its node is syncing')
  await set(a, 'requests are hanging')
  await set(b, 'circuit open')
  await set(a, null)
  await set(b, null)
  t.strictSame(lines, [
    ['down', 'eth', 'a', 'its node is syncing'],
    ['down', 'eth', 'b', 'circuit open'],
    ['none', 'eth', 'a: requests are hanging; b: circuit open'],
    ['up', 'eth', 'a', 15_000],
    ['some', 'eth', 5_000],
    ['up', 'eth', 'b', 10_000],
  ])
})

t.test(
  'a prober that follows another one waits for the first answer of a route, and not for ever',
  async t => {
    const mute = (id: string): LiveRoute =>
      Object.assign(route(id, []), { fault: null, probe: () => new Promise(() => undefined) })
    const { upstreams, snapshot } = scene([mute('a'), mute('b')])
    const alarms: string[] = []
    const start = (before: ReadonlyMap<string, number> | null): void => {
      const events = { ...quiet, networkDown: (network: string) => alarms.push(network) }
      const prober = new Prober(upstreams, new Heads(), snapshot, events, { before })
      t.teardown(() => {
        prober.close()
      })
    }
    start(new Map())
    await pass(600)
    t.strictSame(alarms, [])
    await pass(4_400)
    t.strictSame(alarms, ['eth'])
    start(new Map([['eth', 60_000]]))
    await pass(5_000)
    t.strictSame(alarms, ['eth'], 'the one before has raised it')
    start(null)
    await pass(600)
    t.strictSame(alarms, ['eth', 'eth'], 'the first one waits a moment only')
  },
)

t.test('bug: a route that a reload added to a network that was down ended the alarm unasked', async t => {
  const lines: string[] = []
  const down = Object.assign(route('a', []), {
    fault: null,
    isSuspect: () => false,
    probe: () => Promise.resolve({ kind: 'failure', why: 'refused', fault: true, complaint: null }),
  })
  const { upstreams, live, snapshot } = scene([down])
  const events = {
    ...quiet,
    networkDown: () => lines.push('down'),
    networkUp: () => lines.push('up'),
  }
  const prober = new Prober(upstreams, new Heads(), snapshot, events)
  t.teardown(() => {
    prober.close()
  })
  await pass(0)
  t.strictSame(lines, ['down'])
  live.push(Object.assign(route('b', []), { fault: null, probe: () => new Promise(() => undefined) }))
  await pass(5_000)
  t.strictSame(lines, ['down'])
})
