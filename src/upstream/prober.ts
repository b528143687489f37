/** Asks every route, every few seconds, how far it has come; and now and then which chain it serves. */
import { decodeJson } from '../jsonrpc/raw.ts'
import type { Network, Snapshot } from '../snapshot/types.ts'
import {
  GENESIS_PATH,
  SYNCING_PATH,
  genesisFault,
  readSyncState,
  tellsGenesis,
  tellsSyncing,
  whyDown,
} from './beacon.ts'
import { identityFault, identityQuestion } from './identity.ts'
import { SolanaLook } from './solana-look.ts'
import type { LiveRoute } from './live-route.ts'
import type { Tips } from './tips.ts'
import type { Upstreams } from './upstreams.ts'
import type { Verdict } from './verdict.ts'

/** Milliseconds between two looks at a route, and how long an answer may take. */
const EVERY = 5_000
const PATIENCE = 4_000
/** Milliseconds between two questions for the chain's identity. */
const IDENTITY_EVERY = 300_000
/** How many looks begin at a time, and how often (milliseconds): 400 a second, so that thousands of routes do not hold up calls. */
const AT_A_TIME = 20
const PACE = 50

/** Hears what was found out. */
export interface ProberEvents {
  /** A route serves another chain than it should; it gets no call until that changes. */
  wrongChain(network: string, route: string, why: string): void
}

/** A route that waits for its look. */
interface Due {
  readonly network: Network
  readonly live: LiveRoute
}

/** Looks at routes as long as the gateway serves. */
export class Prober {
  readonly #upstreams: Upstreams
  readonly #tips: Tips
  readonly #events: ProberEvents
  readonly #timer: NodeJS.Timeout
  #snapshot: Snapshot
  #queue: Due[] = []
  #pace: NodeJS.Timeout | null = null
  /** Routes in the queue or being looked at: none is asked twice at a time, however many there are. */
  readonly #busy = new Set<LiveRoute>()
  /** When each was last asked for its chain, in milliseconds; absent until its first look. */
  readonly #identityAt = new WeakMap<LiveRoute, number>()
  readonly #solana = new SolanaLook(PATIENCE)

  constructor(upstreams: Upstreams, tips: Tips, snapshot: Snapshot, events: ProberEvents) {
    this.#upstreams = upstreams
    this.#tips = tips
    this.#snapshot = snapshot
    this.#events = events
    this.#timer = setInterval(() => {
      this.#enqueue(() => true)
    }, EVERY)
    this.#enqueue(() => true)
  }

  /** Looks at the routes of another snapshot from now on, at new ones at once. */
  watch(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    this.#tips.retain(new Set(Object.keys(snapshot.networks)))
    // In a turn of its own: thousands of routes take some milliseconds, and so did the swap.
    setImmediate(() => {
      this.#requeue()
    })
  }

  /** New routes first, then those that waited and are still served. */
  #requeue(): void {
    const waiting = new Set(this.#queue.map(({ live }) => live))
    const [fresh, others]: [Due[], Due[]] = [[], []]
    for (const network of Object.values(this.#snapshot.networks))
      for (const live of this.#upstreams.of(network))
        if (waiting.has(live)) others.push({ network, live })
        else if (!this.#identityAt.has(live) && !this.#busy.has(live)) fresh.push({ network, live })
    for (const live of waiting) this.#busy.delete(live)
    this.#queue = [...fresh, ...others]
    for (const { live } of this.#queue) this.#busy.add(live)
    if (this.#pace === null) this.#begin()
  }

  close(): void {
    clearInterval(this.#timer)
    if (this.#pace !== null) clearTimeout(this.#pace)
    this.#queue = []
  }

  #enqueue(wanted: (live: LiveRoute) => boolean): void {
    for (const network of Object.values(this.#snapshot.networks))
      for (const live of this.#upstreams.of(network))
        if (wanted(live) && !this.#busy.has(live)) {
          this.#busy.add(live)
          this.#queue.push({ network, live })
        }
    if (this.#pace === null) this.#begin()
  }

  #begin(): void {
    this.#pace = null
    for (const { network, live } of this.#queue.splice(0, AT_A_TIME))
      void this.#lookAt(network, live).finally(() => this.#busy.delete(live))
    if (this.#queue.length === 0) return
    this.#pace = setTimeout(() => {
      this.#begin()
    }, PACE)
  }

  /** One question after another, so that a look needs one connection. */
  async #lookAt(network: Network, live: LiveRoute): Promise<void> {
    const asked = this.#identityAt.get(live) ?? -Infinity
    if (!live.identified || Date.now() - asked >= IDENTITY_EVERY) await this.#checkIdentity(network, live)
    if (tellsSyncing(network)) await this.#readBeacon(live)
    else if (network.family === 'evm') await this.#readHead(live)
    else if (network.family === 'solana')
      noteHealth(live, await this.#solana.at(live, keepsAll(network, live)), Date.now())
    this.#tips.update(network.slug, this.#upstreams.of(network), Date.now())
  }

  async #checkIdentity(network: Network, live: LiveRoute): Promise<void> {
    this.#identityAt.set(live, Date.now())
    const fault = await askIdentity(network, live)
    if (fault === undefined) return
    live.identified = fault === null
    if (fault !== null && live.fault === null) this.#events.wrongChain(network.slug, live.id, fault)
    live.fault = fault
  }

  /** `eth_syncing` is false on a node that is up to date. */
  async #readHead(live: LiveRoute): Promise<void> {
    const verdict = await live.probe('eth_blockNumber', '[]', PATIENCE)
    noteHealth(live, verdict, Date.now())
    const head = verdict.kind === 'result' ? Number(decodeJson(verdict.result)) : NaN
    if (Number.isSafeInteger(head)) live.head = head
    const sync = await live.probe('eth_syncing', '[]', PATIENCE)
    if (sync.kind === 'result') live.syncing = sync.result.charCodeAt(0) === 123
  }

  async #readBeacon(live: LiveRoute): Promise<void> {
    const state = readSyncState(await live.fetch(SYNCING_PATH, PATIENCE))
    const { breaker } = live
    if (state.kind === 'down') breaker.failed(state.why, Date.now())
    else if (breaker.state(Date.now()) === 'half-open') breaker.succeeded()
    if (state.kind !== 'told') return
    live.head = state.head
    live.syncing = state.syncing
  }
}

function keepsAll({ routes }: Network, { id }: LiveRoute): boolean {
  return routes.find(route => route.id === id)?.capabilities.includes('archive') === true
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

/** An idle route that is down is found out by us, and so is one that has come back after its pause. */
function noteHealth({ breaker }: LiveRoute, verdict: Verdict, now: number): void {
  if (verdict.kind === 'setback' && verdict.fault) breaker.failed(verdict.why, now)
  else if (verdict.kind === 'result' && breaker.state(now) === 'half-open') breaker.succeeded()
}
