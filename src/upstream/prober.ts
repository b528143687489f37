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

/** What a node of a family is asked for its head. */
const HEAD_QUESTION = { evm: 'eth_blockNumber', solana: 'getSlot', http: null } as const

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
    const waiting = new Set(this.#queue.map(({ live }) => live))
    this.#queue = []
    for (const live of waiting) this.#busy.delete(live)
    this.#enqueue(live => !this.#identityAt.has(live) && !waiting.has(live))
    this.#enqueue(live => waiting.has(live))
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
    else {
      await this.#readHead(network, live)
      await this.#readSync(network, live)
    }
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

  async #readHead({ family }: Network, live: LiveRoute): Promise<void> {
    const question = HEAD_QUESTION[family]
    if (question === null) return
    const verdict = await live.probe(question, '[]', PATIENCE)
    noteHealth(live, verdict, Date.now())
    const head = verdict.kind === 'result' ? Number(decodeJson(verdict.result)) : NaN
    if (Number.isSafeInteger(head)) live.head = head
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

  /** `eth_syncing` is false on a node that is up to date. */
  async #readSync({ family }: Network, live: LiveRoute): Promise<void> {
    if (family !== 'evm') return
    const verdict = await live.probe('eth_syncing', '[]', PATIENCE)
    if (verdict.kind === 'result') live.syncing = verdict.result.charCodeAt(0) === 123
  }
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
