/** Asks one route which chain it serves, how far it has come and whether it is well, and keeps what it says. */
import type { Network } from '../../snapshot/types.ts'
import {
  GENESIS_PATH,
  SYNCING_PATH,
  genesisFault,
  readSyncState,
  tellsGenesis,
  tellsSyncing,
  whyDown,
} from './beacon.ts'
import { memberOf } from '../../jsonrpc/elements.ts'
import { readQuantity } from '../../jsonrpc/quantity.ts'
import { identityFault, identityQuestion } from './identity.ts'
import type { LiveRoute } from '../live-route.ts'
import { SolanaProbe } from './solana-probe.ts'
import type { Tips } from '../heads.ts'
import type { Upstreams } from '../upstreams.ts'
import type { Verdict } from '../transport/verdict.ts'

/** Milliseconds that an answer may take: usually, and where calls have said that something is wrong. */
const PATIENCE = 4_000
const PATIENCE_WHEN_SUSPECT = 2_000
/** Milliseconds between two questions for the chain's identity. */
const IDENTITY_EVERY = 300_000

/** What a probe works on. */
export interface ProbeParts {
  readonly upstreams: Pick<Upstreams, 'of'>
  readonly tips: Tips
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  readonly events: ProbeEvents
}

/** Hears what a probe finds out. */
export interface ProbeEvents {
  /** A route serves another chain than it should; it gets no call until that changes. */
  wrongChain(network: string, route: string, why: string): void
}

/** Probes routes; remembers when each was asked for its chain. */
export class RouteProbe {
  readonly #parts: ProbeParts
  readonly #identityAt = new WeakMap<LiveRoute, number>()
  /** Those that did not answer since: another node may be there now. */
  readonly #lost = new WeakSet<LiveRoute>()
  readonly #solana: SolanaProbe

  constructor(parts: ProbeParts) {
    this.#parts = parts
    this.#solana = new SolanaProbe(PATIENCE, parts.now)
  }

  /** Whether the route was probed before. */
  knows(live: LiveRoute): boolean {
    return this.#identityAt.has(live)
  }

  /** One question after another, so that a probe needs one connection. */
  async probe(network: Network, live: LiveRoute): Promise<void> {
    const asked = this.#identityAt.get(live) ?? -Infinity
    if (!live.identified || this.#isLost(live) || this.#parts.now() - asked >= IDENTITY_EVERY)
      await this.#checkIdentity(network, live)
    if (tellsSyncing(network)) await this.#probeBeacon(network, live)
    else if (network.family === 'evm') await this.#probeEvm(network, live)
    else if (network.family === 'solana') await this.#probeSolana(network, live)
  }

  /** Whether what calls say about the route is true: one question, which has to be answered soon. */
  async confirm(network: Network, live: LiveRoute): Promise<void> {
    const { now } = this.#parts
    if (network.family === 'http') {
      if (!tellsSyncing(network)) return
      const why = whyDown(await live.fetch(SYNCING_PATH, PATIENCE_WHEN_SUSPECT))
      if (why === null) live.breaker.notConfirmed(now())
      else live.breaker.probeFailed(why, now(), live.isSuspect(now()))
      return
    }
    if (this.#isLost(live)) await this.#checkIdentity(network, live)
    const [method, params] = network.family === 'solana' ? GET_SLOT : BLOCK_NUMBER
    const verdict = await live.probe(method, params, PATIENCE_WHEN_SUSPECT)
    if (verdict.kind === 'setback') {
      this.#noteSetback(live, verdict)
      return
    }
    live.breaker.notConfirmed(now())
    const height = verdict.kind === 'result' ? readQuantity(verdict.result) : null
    if (height !== null && network.family === 'evm') this.#claim(network, live, height)
    if (network.family === 'solana') await this.#solana.health(live)
  }

  #isLost(live: LiveRoute): boolean {
    return this.#lost.has(live) || live.breaker.state(this.#parts.now()) === 'open'
  }

  async #checkIdentity(network: Network, live: LiveRoute): Promise<void> {
    this.#identityAt.set(live, this.#parts.now())
    const fault = await askIdentity(network, live)
    if (fault === undefined) return
    this.#lost.delete(live)
    live.identified = fault === null
    if (fault !== null && live.fault === null) this.#parts.events.wrongChain(network.slug, live.id, fault)
    live.fault = fault
  }

  /** `eth_syncing` is false on a node that is up to date. */
  async #probeEvm(network: Network, live: LiveRoute): Promise<void> {
    const verdict = await live.probe(...BLOCK_NUMBER, PATIENCE)
    this.#note(live, verdict)
    const height = verdict.kind === 'result' ? readQuantity(verdict.result) : null
    if (height !== null) {
      this.#claim(network, live, height)
      if (this.#needsProof(network, live) && (await hasBlock(live, height)))
        this.#parts.tips.show(network, live, height, this.#parts.upstreams.of(network), this.#parts.now())
    }
    const sync = await live.probe('eth_syncing', '[]', PATIENCE)
    // An object with how far it has come, or of some clients only `true`.
    if (sync.kind === 'result') live.syncing = sync.result.charCodeAt(0) === 123 || sync.result === 'true'
  }

  async #probeSolana(network: Network, live: LiveRoute): Promise<void> {
    const { now } = this.#parts
    const { verdict, askedAt, slots } = await this.#solana.slots(live)
    this.#note(live, verdict)
    if (verdict.kind === 'setback') return
    const newest = Math.max(...slots.map(([, slot]) => slot))
    if (slots.length > 0) {
      this.#claim(network, live, newest)
      if (live.head === newest)
        for (const [commitment, slot] of slots) live.slots.tell(commitment, slot, askedAt, now())
    }
    await this.#solana.health(live)
    await this.#solana.firstSlot(live, keepsAll(network, live))
  }

  async #probeBeacon(network: Network, live: LiveRoute): Promise<void> {
    const { now } = this.#parts
    const state = readSyncState(await live.fetch(SYNCING_PATH, PATIENCE))
    if (state.kind === 'down') live.breaker.probeFailed(state.why, now(), live.isSuspect(now()))
    else live.breaker.probeSucceeded(now())
    if (state.kind !== 'told') return
    live.syncing = state.syncing
    this.#claim(network, live, state.head)
  }

  #claim(network: Network, live: LiveRoute, height: number): void {
    const { tips, upstreams, now } = this.#parts
    tips.claim(network, live, height, upstreams.of(network), now())
  }

  #needsProof(network: Network, live: LiveRoute): boolean {
    const { tips, upstreams } = this.#parts
    return tips.needsProof(network.slug, live, upstreams.of(network))
  }

  /** An idle route that is down is found out by us, and so is one that has come back. */
  #note(live: LiveRoute, verdict: Verdict): void {
    if (verdict.kind === 'setback') this.#noteSetback(live, verdict)
    else if (verdict.kind === 'result') live.breaker.probeSucceeded(this.#parts.now())
  }

  #noteSetback(live: LiveRoute, { fault, why, complaint }: Verdict & { kind: 'setback' }): void {
    const now = this.#parts.now()
    if (fault) this.#lost.add(live)
    if (fault) live.breaker.probeFailed(why, now, live.isSuspect(now))
    if (complaint !== null) live.pauses.complain(complaint, now)
  }
}

const BLOCK_NUMBER = ['eth_blockNumber', '[]'] as const
const GET_SLOT = ['getSlot', '[{"commitment":"processed"}]'] as const

function keepsAll({ routes }: Network, { id }: LiveRoute): boolean {
  return routes.find(route => route.id === id)?.capabilities.includes('archive') === true
}

/** Whether an EVM node shows the block of a height that it claims. */
async function hasBlock(live: LiveRoute, height: number): Promise<boolean> {
  const verdict = await live.probe('eth_getBlockByNumber', `["0x${height.toString(16)}",false]`, PATIENCE)
  if (verdict.kind !== 'result' || verdict.result.charCodeAt(0) !== 123) return false
  return readQuantity(memberOf(verdict.result, 'number')) === height
}

/** What is wrong with a route's chain, null when nothing is; undefined when the route did not answer. */
async function askIdentity(network: Network, live: LiveRoute): Promise<string | null | undefined> {
  if (tellsGenesis(network)) {
    const exchange = await live.fetch(GENESIS_PATH, PATIENCE)
    return whyDown(exchange) === null ? genesisFault(network, exchange) : undefined
  }
  const question = identityQuestion(network)
  const verdict = question === null ? null : await live.probe(question, '[]', PATIENCE)
  if (verdict?.kind === 'setback' || verdict?.kind === 'open') return undefined
  // A node that answers with an error cannot say; it is taken at the operator's word.
  return verdict?.kind === 'result' ? identityFault(network, verdict.result) : null
}
