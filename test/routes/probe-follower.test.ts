/** What one process finds out by probing, the others of its machine say too. */
import t from 'tap'
import { COMMITMENTS } from '../../src/families/height-kind.ts'
import { roundOf } from '../../src/routes/health/prober.ts'
import type { Asked } from '../../src/routes/asked.ts'
import type { PauseReport } from '../../src/routes/health/route-pauses.ts'
import { atOnce } from '../../src/reload/time-slices.ts'
import { Random } from '../support/random.ts'
import { sent, startProbingMachine, type Process, type ProbingMachine } from '../support/probing-machine.ts'

/** How far above the head a height is tried: one that is plausible grows with time. */
const STEPS = Array.from({ length: 60 }, (_, n) => 50 + 2 * n)

/** All that a process says of every network and route at its own time; `since` are durations. */
function said({ upstreams, heads, clock }: Process, { snapshot }: ProbingMachine) {
  const now = clock.monotonic()
  const ago = (at: number | null) => (at === null ? null : now - at)
  return Object.values(snapshot.networks).map(network => ({
    network: network.slug,
    best: heads.best(network.slug),
    certain: heads.certain(network.slug),
    isConfirmed: heads.isConfirmed(network.slug),
    plausible: STEPS.map(more => heads.isPlausible(network, (heads.best(network.slug) ?? 0) + more, now)),
    routes: upstreams.of(network).map(live => ({
      id: live.id,
      whyNot: upstreams.whyNot(network, live.id, now),
      whyDown: live.whyDown(now),
      lag: heads.lagOf(network, live),
      identified: live.identified,
      fault: live.fault,
      silent: live.silent,
      syncing: live.syncing,
      slotsBehind: live.slotsBehind,
      firstSlot: upstreams.firstKept(live.id),
      head: live.head,
      claimed: live.claimed,
      certainHead: upstreams.certainHead(live.id),
      reached: [1_000_000, 1_000_010].map(height => live.hasReached(height, 'head', now)),
      slots: COMMITMENTS.map(scale => live.slots.at(scale)),
      breaker: [live.breaker.state(now), live.breaker.retryIn(now), live.breaker.lastError],
      pause: live.pauses.report(now),
      isBinding: live.pauses.isBinding(now),
      since: [
        live.breaker.lastFailure(now)?.ms ?? null,
        ago(live.downSince),
        ago(live.restartedAt),
        ...[1, 12_000].map(ms => upstreams.hasForgotten(live.id, now - ms, now)),
      ],
    })),
  }))
}

/** The same without how long anything has been so: who hears only the newest of several reports may have missed a change. */
function saidNow(process: Process, machine: ProbingMachine): unknown {
  return said(process, machine).map(network => ({
    ...network,
    routes: network.routes.map(route => ({ ...route, since: [] })),
  }))
}

/** Changes one node somehow; says what it did. */
async function happen(random: Random, { nodes }: ProbingMachine): Promise<string> {
  const id = random.pick([...nodes.keys()])
  const node = nodes.get(id)!
  const { state } = node
  const what = random.pick(['syncing', 'chain', 'dies', 'lives', 'behind', 'lies', 'status', 'well', 'first'])
  if (what === 'syncing') state.syncing = !state.syncing
  if (what === 'chain') state.isRight = !state.isRight
  if (what === 'dies') await node.close()
  if (what === 'lives') {
    await node.close()
    await node.listen()
  }
  if (what === 'behind') state.head -= random.below(60)
  if (what === 'lies')
    Object.assign(state, { head: random.pick([5_000_000, Number.MAX_SAFE_INTEGER]), isHonest: false })
  if (what === 'status') state.status = random.pick([LIMITED, { code: 503, retryAfter: '0' }, FORBIDDEN])
  if (what === 'well') Object.assign(state, { syncing: false, isRight: true, isHonest: true, status: null })
  if (what === 'first') state.firstSlot += 1_000
  return `${id} ${what}`
}

const LIMITS = { timeout: 4_000, holdBack: Infinity, maxBytes: 1024, departure: null }

/** A call of the caller `one`. */
function aCall(id: number): Asked {
  return {
    family: 'evm',
    method: 'eth_blockNumber',
    params: '[]',
    isRange: false,
    rows: [],
    body: `{"jsonrpc":"2.0","id":${id},"method":"eth_blockNumber","params":[]}`,
    id,
    caller: 'one',
    departure: () => null,
    heavy: false,
    isAboutAnother: null,
    flight: null,
    traceparent: null,
  }
}

function sentPause(pause: PauseReport): PauseReport {
  return JSON.parse(JSON.stringify(pause)) as PauseReport
}

const LIMITED = { code: 429, retryAfter: '12' }
const FORBIDDEN = { code: 403, retryAfter: '0' }

const SEEDS = [1, 3, 43]

for (const seed of SEEDS)
  t.test(`after whatever nodes do, all processes say the same: ${seed}`, async t => {
    const random = new Random(seed)
    const machine = await startProbingMachine(t)
    const { keeper, prober, nodes } = machine
    const always = machine.follow(777_777)
    const doubly = machine.follow(5_000)
    for (const { follower } of [always, doubly]) follower.takeAll(prober.reports().map(sent))
    machine.onReport = report => {
      always.follower.take(report)
      for (let i = 0; i < 2; i += 1) doubly.follower.take(report)
    }
    const seldom = machine.follow(99)
    const history: string[] = []
    let height = 1_000_000
    for (let round = 0; round < 40; round += 1) {
      height += random.below(12)
      for (const { state } of nodes.values())
        if (random.below(10) > 0 && state.isHonest) state.head = Math.max(height, state.head)
      for (let n = random.below(3); n > 0; n -= 1) history.push(`${round}: ${await happen(random, machine)}`)
      await machine.round()
      const truth = said(keeper, machine)
      const late = machine.follow(31_000)
      late.follower.takeAll(prober.reports().map(sent))
      if (round % 2 === 1) seldom.follower.takeAll(prober.reports().map(sent))
      const ok = [
        round % 2 === 0 ||
          t.strictSame(
            saidNow(seldom, machine),
            saidNow(keeper, machine),
            `round ${round}: who hears one report of two`,
          ),
        t.strictSame(said(always, machine), truth, `round ${round}: who hears every report`),
        t.strictSame(said(doubly, machine), truth, `round ${round}: who hears each twice`),
        t.strictSame(said(late, machine), truth, `round ${round}: who has just begun`),
      ]
      if (ok.includes(false)) {
        t.comment(history.join('\n'))
        break
      }
    }
    t.ok(history.length > 20, 'much has happened')
  })

t.test(
  'what nobody has said for 15 s is forgotten, faults and the breaker stay, and the next report says it again',
  async t => {
    const machine = await startProbingMachine(t)
    const { keeper, prober, nodes } = machine
    nodes.get('sol-0')!.state.syncing = true
    nodes.get('eth-1')!.state.isRight = false
    await Promise.all(['eth-1', 'eth-2'].map(id => nodes.get(id)!.close()))
    for (let i = 0; i < 3; i += 1) await machine.round()
    await nodes.get('eth-1')!.listen()
    for (let i = 0; i < 2; i += 1) await machine.round()
    const { follower, upstreams, heads, clock } = machine.follow(50_000)
    follower.takeAll(prober.reports().map(sent))
    const state = (id: string) => {
      const { head, claimed, syncing, slotsBehind, slots, identified, fault, breaker } = upstreams.get(id)!
      const height = [head, claimed, syncing, slotsBehind, slots.at('processed')]
      return { height, health: [identified, fault, breaker.lastError] }
    }
    const ids = ['eth-0', 'eth-1', 'eth-2', 'sol-0']
    const before = ids.map(state)
    t.match(before, [
      { height: [1_000_000, 1_000_000], health: [true, null, null] },
      { health: [false, 'it serves chain 42, not 1', null] },
      { health: [true, null, 'unreachable'] },
      { height: [1_000_000, 1_000_000, true, 42, 1_000_000], health: [true, null, null] },
    ])
    clock.advance(14_000)
    t.strictSame(ids.map(state), before)
    clock.advance(1_000)
    t.strictSame(
      ids.map(state),
      before.map(({ health }) => ({ height: [null, null, false, null, null], health })),
    )
    const now = clock.monotonic()
    for (const id of ids)
      t.notOk(heads.lagOf(machine.snapshot.networks['eth']!, upstreams.get(id)!) !== 'none')
    t.equal(upstreams.get('eth-2')!.breaker.state(now), 'half-open', 'its breaker is not closed')
    t.equal(heads.best('eth'), 1_000_000, 'what is plausible is still known')
    keeper.clock.advance(15_000)
    follower.takeAll(prober.reports().map(sent))
    t.strictSame(ids.map(state), before)
  },
)

t.test('with thousands of routes a round takes longer, and so does the silence', t => {
  t.strictSame([1, 2_000, 10_000].map(roundOf), [5_000, 5_000, 25_000])
  t.end()
})

t.test('a process that probes anew is believed, and what it does not know yet is kept', async t => {
  const machine = await startProbingMachine(t)
  const { prober, nodes } = machine
  await nodes.get('eth-2')!.close()
  for (let i = 0; i < 4; i += 1) await machine.round()
  const { follower, upstreams, clock } = machine.follow(1)
  follower.takeAll(prober.reports().map(sent))
  const isOpen = () => upstreams.get('eth-2')!.breaker.state(clock.monotonic()) === 'open'
  t.ok(isOpen())
  const report = sent(prober.reports().find(({ route }) => route === 'eth-2')!)
  const outcome = { number: 1, ended: 'failed', why: 'reset', inARow: 1, ago: 0 } as const
  follower.take({ ...report, run: report.run + 1, outcome, breaker: null })
  t.ok(isOpen())
  t.equal(upstreams.get('eth-2')!.breaker.lastError, 'reset')
})

t.test('a report of a route that was defined in another way waits for the snapshot with it', async t => {
  const machine = await startProbingMachine(t, 1)
  const { follower, upstreams } = machine.follow(0)
  const report = sent(machine.prober.reports().find(({ route }) => route === 'eth-0')!)
  const live = upstreams.get('eth-0')!
  follower.take({ ...report, definition: 'another' })
  t.strictSame([live.identified, live.head], [false, null])
  const { eth } = machine.snapshot.networks
  const limits = { inFlight: null, perSecond: 1_000 }
  const changed = { ...eth!, routes: eth!.routes.map(route => ({ ...route, limits })) }
  const next = { ...machine.snapshot, networks: { eth: changed } }
  const opened = atOnce(upstreams.open(next))
  follower.take({ ...report, definition: opened.entries.get('eth-0')!.definition })
  t.notOk(live.identified)
  upstreams.adopt(opened)
  follower.watch(next)
  const fresh = upstreams.get('eth-0')!
  t.not(fresh, live)
  t.strictSame([fresh.identified, fresh.head], [true, 1_000_000])
})

t.test('a report that came before undoes nothing that calls have shown since', async t => {
  const machine = await startProbingMachine(t, 1)
  const { prober, snapshot } = machine
  const { follower, upstreams, clock } = machine.follow(0)
  for (const id of ['eth-0', 'sol-0']) await machine.nodes.get(id)!.close()
  for (let i = 0; i < 4; i += 1) await machine.round()
  const reports = prober.reports().map(sent)
  follower.takeAll(reports)
  clock.advance(10)
  const [eth, sol] = ['eth-0', 'sol-0'].map(id => upstreams.get(id)!)
  upstreams.learnHead(snapshot.networks['eth']!, 'eth-0', 1_000_005, clock.monotonic())
  upstreams.learnHead(snapshot.networks['sol']!, 'sol-0', 1_000_007, clock.monotonic(), 'processed')
  eth!.breaker.succeeded('one')
  const known = () => [
    eth!.claimed,
    eth!.breaker.state(clock.monotonic()),
    sol!.claimed,
    ...COMMITMENTS.map(scale => sol!.slots.at(scale)),
  ]
  const before = known()
  t.strictSame(before, [1_000_005, 'closed', 1_000_007, 1_000_007, 999_998, 999_968])
  follower.takeAll(reports)
  t.strictSame(known(), before)
})

t.test('routes that no snapshot names any more are not reported', async t => {
  const machine = await startProbingMachine(t, 1)
  const { prober, keeper, snapshot } = machine
  t.strictSame(
    prober.reports().map(({ route }) => route),
    ['eth-0', 'sol-0', 'beacon-0', 'stark-0'],
  )
  const next = { ...snapshot, networks: { sol: snapshot.networks['sol']! } }
  keeper.upstreams.adopt(atOnce(keeper.upstreams.open(next)))
  prober.watch(next)
  t.strictSame(
    prober.reports().map(({ route }) => route),
    ['sol-0'],
  )
})

t.test('calls that speak against a route have it probed elsewhere, once a second', async t => {
  const machine = await startProbingMachine(t, 1)
  const { prober, nodes } = machine
  const { follower, upstreams, clock, suspects } = machine.follow(0)
  follower.takeAll(prober.reports().map(sent))
  const live = upstreams.get('eth-0')!
  const node = nodes.get('eth-0')!
  const fail = (caller: string) => live.ask({ ...aCall(0), caller }, LIMITS, clock.monotonic)
  node.state.status = { code: 503, retryAfter: '0' }
  for (let i = 0; i < 3; i += 1) await fail('one')
  t.equal(live.breaker.state(clock.monotonic(), 'one'), 'open')
  t.equal(live.breaker.state(clock.monotonic()), 'closed', 'for that caller')
  t.strictSame(suspects, ['eth-0'])

  machine.onReport = report => {
    follower.take(report)
  }
  const before = node.count('eth_blockNumber')
  const confirmed = machine.reported(['eth-0'])
  for (const id of ['eth-0', 'eth-0', 'nobody']) prober.confirm(id)
  await confirmed
  t.equal(prober.reports()[0]?.outcome?.ended, 'failed')
  t.equal(live.breaker.state(clock.monotonic()), 'open', 'what the caller saw is true for everybody')
  machine.pass(999)
  prober.confirm('eth-0')
  await machine.round()
  t.equal(node.count('eth_blockNumber') - before, 2, 'one question and that of the round')
})

t.test('a route that answers its probe is tested at once by a call', async t => {
  const machine = await startProbingMachine(t, 1)
  const { prober, nodes } = machine
  const { follower, upstreams, clock, suspects } = machine.follow(0)
  follower.takeAll(prober.reports().map(sent))
  const live = upstreams.get('eth-0')!
  const { state } = nodes.get('eth-0')!
  state.status = { code: 503, retryAfter: '0' }
  const fail = async (caller: string) => {
    for (let i = 0; i < 3; i += 1) await live.ask({ ...aCall(0), caller }, LIMITS, clock.monotonic)
  }
  await fail('one')
  clock.advance(999)
  await fail('two')
  t.equal(live.breaker.state(clock.monotonic()), 'open', 'two callers speak for all')
  t.strictSame(suspects, ['eth-0'], 'not twice within a second')
  clock.advance(5_000)
  await fail('two')
  t.strictSame(suspects, ['eth-0', 'eth-0'])
  live.breaker.succeeded('two')
  await fail('two')
  t.equal(live.breaker.state(clock.monotonic(), 'two'), 'open')

  state.status = null
  machine.onReport = report => {
    follower.take(report)
  }
  const well = machine.reported(['eth-0'])
  prober.confirm('eth-0')
  await well
  t.equal(prober.reports()[0]?.outcome?.ended, 'not confirmed')
  t.equal(live.breaker.state(clock.monotonic()), 'half-open')
})

t.test('a pause that one process draws holds in the others, and does not come back', async t => {
  const machine = await startProbingMachine(t, 1)
  const [one, two] = [machine.follow(10_000), machine.follow(90_000)]
  const told: string[] = []
  const liveOf = ({ upstreams }: Process) => upstreams.get('eth-0')!
  for (const [from, to, name] of [
    [one, two, 'one'],
    [two, one, 'two'],
  ] as const)
    from.upstreams.whenPaused(({ id }, pause) => {
      told.push(`${name} ${id} ${pause.left}`)
      to.upstreams.get(id)!.pauses.takeIn(sentPause(pause), to.clock.monotonic())
    })
  const isPaused = (process: Process, caller?: string) =>
    liveOf(process).pauses.isActive(process.clock.monotonic(), caller)
  const binds = (process: Process, caller?: string) =>
    liveOf(process).pauses.isBinding(process.clock.monotonic(), caller)
  machine.nodes.get('eth-0')!.state.status = LIMITED
  await liveOf(one).ask(aCall(0), LIMITS, one.clock.monotonic)
  await liveOf(one).ask(aCall(0), LIMITS, one.clock.monotonic)
  t.strictSame(told, ['one eth-0 12000'], 'once, though two calls were in flight')
  t.strictSame([isPaused(one, 'one'), isPaused(two, 'one')], [true, true])
  t.strictSame([isPaused(one), isPaused(two)], [false, false], 'others are served')
  t.strictSame([binds(two), binds(two, 'one'), binds(two, 'else')], [false, true, false])
  await liveOf(two).ask({ ...aCall(0), caller: 'else' }, LIMITS, two.clock.monotonic)
  t.strictSame(told, ['one eth-0 12000', 'two eth-0 12000'], 'a second caller has drawn it')
  t.strictSame([binds(one, 'else'), binds(two, 'else')], [true, true])
  t.strictSame([binds(one), binds(two)], [false, false], 'for itself')

  machine.pass(11_999)
  t.strictSame([isPaused(one, 'one'), isPaused(two, 'one')], [true, true])
  machine.pass(1)
  t.strictSame([isPaused(one, 'one'), isPaused(two, 'one')], [false, false])
  machine.nodes.get('eth-0')!.state.status = { code: 429, retryAfter: '0' }
  await liveOf(two).ask(aCall(0), LIMITS, two.clock.monotonic)
  machine.pass(1_599)
  t.strictSame([isPaused(one, 'one'), isPaused(two, 'one')], [true, true], 'the next pause is a second one')
  machine.pass(801)
  t.strictSame([isPaused(one, 'one'), isPaused(two, 'one')], [false, false])
})

t.test('a 429 that a probe draws pauses the route for everybody, in every process', async t => {
  const machine = await startProbingMachine(t, 1)
  const { prober, keeper } = machine
  const follower = machine.follow(10_000)
  const liveOf = ({ upstreams }: Process) => upstreams.get('eth-0')!
  const of = (is: 'isActive' | 'isBinding') =>
    [keeper, follower].map(process => liveOf(process).pauses[is](process.clock.monotonic()))
  keeper.upstreams.whenPaused((live, pause) => {
    liveOf(follower).pauses.takeIn(sentPause(pause), follower.clock.monotonic())
  })
  machine.nodes.get('eth-0')!.state.status = LIMITED
  await liveOf(follower).ask(aCall(0), LIMITS, follower.clock.monotonic)
  t.strictSame(of('isActive'), [false, false])
  t.strictSame(follower.suspects, ['eth-0'], 'it is probed at once')
  const confirmed = machine.reported(['eth-0'])
  for (const id of follower.suspects) prober.confirm(id)
  await confirmed
  t.strictSame(of('isActive'), [true, true])
  t.strictSame(of('isBinding'), [true, true])
})
