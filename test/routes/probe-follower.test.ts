/** What one process finds out by probing, the others of its machine say too. */
import t from 'tap'
import { COMMITMENTS } from '../../src/families/solana/scale.ts'
import { Random } from '../support/random.ts'
import { sent, startProbingMachine, type Process, type ProbingMachine } from '../support/probing-machine.ts'

/** All that a process says of every network and route at its own time; `since` are durations. */
function said({ upstreams, heads, clock }: Process, { snapshot }: ProbingMachine) {
  const now = clock.monotonic()
  const ago = (at: number | null) => (at === null ? null : now - at)
  return Object.values(snapshot.networks).map(network => ({
    network: network.slug,
    best: heads.best(network.slug),
    certain: heads.certain(network.slug),
    isConfirmed: heads.isConfirmed(network.slug),
    plausible: [0, 50, 1_000, 1e9].map(more => heads.isPlausible(network, 1_000_000 + more, now)),
    routes: upstreams.of(network).map(live => ({
      id: live.id,
      whyNot: upstreams.whyNot(network, live.id, now),
      whyDown: live.whyDown(now),
      lag: heads.lagOf(network, live),
      ...{ identified: live.identified, fault: live.fault, silent: live.silent },
      ...{ syncing: live.syncing, slotsBehind: live.slotsBehind, firstSlot: upstreams.firstSlot(live.id) },
      ...{ head: live.head, claimed: live.claimed, certainHead: upstreams.certainHead(live.id) },
      reached: [1_000_000, 1_000_010].map(height => live.hasReached(height)),
      slots: COMMITMENTS.map(scale => live.slots.at(scale)),
      breaker: [live.breaker.state(now), live.breaker.retryIn(now), live.breaker.lastError],
      pause: live.pauses.report(now),
      isBinding: live.pauses.isBinding(now),
      since: [
        ...[live.breaker.lastFailure(now)?.ms ?? null, ago(live.downSince), ago(live.restartedAt)],
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

const LIMITED = { code: 429, retryAfter: '12' }
const FORBIDDEN = { code: 403, retryAfter: '0' }

const SEEDS = [1, 2, 3, 4, 5, 6]

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
