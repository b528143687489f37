/** One process that probes nodes of every family, and others that follow it, with clocks of their own that a test moves. */
import { mock } from 'node:test'
import { Prober, type ProberEvents } from '../../src/routes/health/prober.ts'
import { ProbeFollower } from '../../src/routes/health/probe-follower.ts'
import type { RouteReport } from '../../src/routes/health/report.ts'
import { Heads } from '../../src/routes/heads.ts'
import { Upstreams } from '../../src/routes/upstreams.ts'
import { atOnce } from '../../src/reload/time-slices.ts'
import type { Snapshot } from '../../src/snapshot/types.ts'
import { CHAINS, startProbedNode, type ProbedNode } from './probed-nodes.ts'
import { snapshotOf } from './snapshot.ts'
import type { Teardown } from './teardown.ts'
import { TestClock } from './test-clock.ts'
import { within } from './until.ts'

type Test = Teardown & Parameters<typeof snapshotOf>[0]

/** Milliseconds between two probes of a route. */
export const ROUND = 5_000

const networks = `
baseUrl: http://{subdomain}.example.test
networks:
  eth: { name: E, family: evm, chainId: ${CHAINS.evm}, maxLag: 10 }
  sol: { name: S, family: solana, chainId: s, genesisHash: "${CHAINS.solana}", maxLag: 10 }
  beacon: { name: B, family: http, chainId: b, genesisHash: "${CHAINS.http}", maxLag: 10 }
  stark: { name: J, family: jsonrpc, chainId: j, head: { method: starknet_blockNumber }, identity: { method: starknet_chainId, equals: "${CHAINS.jsonrpc}" }, maxLag: 10 }
`
const methods = `
notification: { cost: 1 }
families:
  evm:
    eth_blockNumber: {}
  solana:
    getSlot: {}
  jsonrpc:
    starknet_blockNumber: {}
  http:
    "GET /eth/v1/node/syncing": {}
    "GET /eth/v1/beacon/genesis": {}
`
const FAMILIES = { eth: 'evm', sol: 'solana', beacon: 'http', stark: 'jsonrpc' } as const

/** The live parts of a process, with the time of its own clock. */
export interface Process {
  readonly upstreams: Upstreams
  readonly heads: Heads
  readonly clock: TestClock
}

/** A process that follows. */
export interface Following extends Process {
  readonly follower: ProbeFollower
  /** Routes that calls of it spoke against. */
  readonly suspects: string[]
}

/** Events that no test looks at. */
export const quiet: ProberEvents = {
  wrongChain: () => undefined,
  routeDown: () => undefined,
  routeUp: () => undefined,
  networkDown: () => undefined,
  networkUp: () => undefined,
  bug: error => {
    throw error
  },
}

/** The process that probes, its nodes and who follows. */
export class ProbingMachine {
  readonly nodes: ReadonlyMap<string, ProbedNode>
  readonly snapshot: Snapshot
  readonly keeper: Process
  readonly prober: Prober
  readonly followers: Following[] = []
  /** Hears each report as it would come over a socket. */
  onReport: (report: RouteReport) => void = () => undefined
  readonly #t: Teardown
  #reported: (route: string) => void = () => undefined

  constructor(t: Teardown, nodes: ReadonlyMap<string, ProbedNode>, snapshot: Snapshot) {
    this.#t = t
    this.nodes = nodes
    this.snapshot = snapshot
    mock.timers.enable({ apis: ['setInterval', 'setTimeout'] })
    this.keeper = this.#process(0)
    const { upstreams, heads, clock } = this.keeper
    this.prober = new Prober(upstreams, heads, snapshot, quiet, { now: clock.monotonic })
    this.prober.whenReported(report => {
      this.onReport(sent(report))
      this.#reported(report.route)
    })
    t.teardown(() => {
      this.prober.close()
      mock.timers.reset()
    })
  }

  /** Adds a process whose clock is so many milliseconds ahead. */
  follow(ahead: number): Following {
    const parts = this.#process(ahead)
    const suspects: string[] = []
    const follower = new ProbeFollower(parts.upstreams, parts.heads, this.snapshot, {
      suspect: id => suspects.push(id),
      clock: parts.clock,
    })
    this.#t.teardown(() => {
      follower.close()
    })
    const following = { ...parts, follower, suspects }
    this.followers.push(following)
    return following
  }

  /** All clocks go on. */
  pass(ms: number): void {
    for (const { clock } of [this.keeper, ...this.followers]) clock.advance(ms)
  }

  /** Probes every route once more; resolves when each was reported. */
  async round(): Promise<void> {
    this.pass(ROUND)
    const done = this.reported([...this.nodes.keys()])
    mock.timers.tick(ROUND)
    await done
  }

  /** Resolves when each of these routes was reported. */
  reported(routes: readonly string[]): Promise<void> {
    const missing = new Set(routes)
    const done = new Promise<void>(resolve => {
      this.#reported = route => {
        missing.delete(route)
        if (missing.size === 0) resolve()
      }
    })
    return within(`reports of ${routes.join(', ')}`, done)
  }

  #process(ahead: number): Process {
    const heads = new Heads()
    const upstreams = new Upstreams(heads)
    upstreams.adopt(atOnce(upstreams.open(this.snapshot)))
    this.#t.teardown(() => upstreams.close())
    const clock = new TestClock()
    clock.advance(ahead)
    return { upstreams, heads, clock }
  }
}

/** A report as it comes out of a socket. */
export function sent(report: RouteReport): RouteReport {
  return JSON.parse(JSON.stringify(report)) as RouteReport
}

/** Starts so many nodes of each family, and probes each once. */
export async function startProbingMachine(t: Test, each = 3): Promise<ProbingMachine> {
  const nodes = new Map<string, ProbedNode>()
  const routes: string[] = []
  for (const [slug, family] of Object.entries(FAMILIES))
    for (let i = 0; i < each; i += 1) {
      const node = await startProbedNode(t, family)
      nodes.set(`${slug}-${i}`, node)
      routes.push(`  - { id: ${slug}-${i}, network: ${slug}, http: "${node.url}" }`)
    }
  const snapshot = await snapshotOf(t, { networks, routes: `routes:\n${routes.join('\n')}\n`, methods })
  const machine = new ProbingMachine(t, nodes, snapshot)
  await machine.reported([...nodes.keys()])
  return machine
}
