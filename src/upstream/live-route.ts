/** A route while it lives: its connections, its health and what is known of its pace and chain. */
import type { Dispatcher } from 'undici'
import { decodeJson } from '../jsonrpc/raw.ts'
import type { Raw } from '../jsonrpc/raw.ts'
import type { Reply } from '../jsonrpc/reply.ts'
import type { Family, Route } from '../snapshot/types.ts'
import { Breaker } from './breaker.ts'
import { CoolDown } from './cool-down.ts'
import { Connections } from './connections.ts'
import { Collector } from './exchange.ts'
import type { Exchange, ExchangeLimits } from './exchange.ts'
import { Latency } from './latency.ts'
import { Outstanding } from './outstanding.ts'
import { Room } from './room.ts'
import { requestTarget } from './request-target.ts'
import type { RequestTarget } from './request-target.ts'
import type { Scale } from './scale.ts'
import { Slots } from './slots.ts'
import { judge } from './verdict.ts'
import type { Setback, Verdict } from './verdict.ts'
import { Hop } from './verbatim/hop.ts'
import { judgeHead } from './verbatim/judge.ts'
import type { Passage, ReplyHead } from './verbatim/passage.ts'

/** Connections to an upstream whose route sets no limit. */
const CONNECTIONS = 256
/** Bytes of an answer to a question of our own. */
const MAX_PROBE = 1024 * 1024

/** What Agave says of a node that is behind. */
interface Unhealthy {
  readonly data?: { readonly numSlotsBehind?: unknown } | null
}

/** One call for a route. */
export interface Asked {
  readonly body: Raw
  readonly id: number
  /** Heavy calls may be long under way without a route being ill. */
  readonly heavy: boolean
}

/** One way to an upstream; opened when the snapshot names it, closed when it no longer does. */
export class LiveRoute {
  readonly id: string
  readonly breaker = new Breaker()
  readonly coolDown = new CoolDown()
  readonly latency = new Latency()
  readonly room: Room
  /** Last block or slot that it told; null until it has. */
  head: number | null = null
  /** What speaks against it ever serving: a wrong chain. Null when nothing does. */
  fault: string | null = null
  syncing = false
  /** How far behind the cluster its node says that it is; null when it does not. */
  slotsBehind: number | null = null
  /** Oldest slot that it keeps; null until it has told, and where it keeps all. */
  firstSlot: number | null = null
  readonly slots = new Slots()
  /** Whether it has been asked for its chain, and did not say another one. */
  identified = false
  readonly #outstanding = new Outstanding()
  readonly #target: RequestTarget
  readonly #connections: Connections
  readonly #family: Family
  readonly #openHop: () => Hop
  #hop: Hop | null = null

  constructor(route: Route, connectTimeout: number, family: Family = 'evm') {
    this.id = route.id
    this.room = new Room(route.limits)
    this.#target = requestTarget(route)
    this.#family = family
    const { origin } = this.#target
    this.#connections = new Connections({
      origin,
      most: route.limits.inFlight ?? CONNECTIONS,
      connectTimeout,
    })
    this.#openHop = () => new Hop(route, connectTimeout)
  }

  /** Why calls keep away from it at `now` (milliseconds), as a sentence for the operator; null when they do not. */
  whyNot(now: number): string | null {
    if (this.fault !== null) return this.fault
    if (this.coolDown.isActive(now)) return `its upstream asked for a pause (${this.coolDown.why})`
    if (this.syncing)
      return this.slotsBehind === null
        ? 'its node is syncing'
        : `its node says that it is ${this.slotsBehind} slots behind`
    if (this.breaker.state(now) === 'open')
      return `it failed and is given a pause (last: ${this.breaker.lastError ?? 'unknown'})`
    return this.isHanging(now) ? 'it leaves calls unanswered' : null
  }

  /** Takes a node's word that it is behind the cluster (Agave's NodeUnhealthy), or that it is well: null. */
  isBehind(reply: Reply | null): void {
    this.syncing = reply !== null
    const data = reply?.kind === 'error' ? (decodeJson(reply.error) as Unhealthy).data : null
    this.slotsBehind = typeof data?.numSlotsBehind === 'number' ? data.numSlotsBehind : null
  }

  /** Whether it has left several calls unanswered for far longer than it usually takes. */
  isHanging(now: number): boolean {
    return this.#outstanding.isHanging(now, this.latency.p99)
  }

  /** Sends one call and says what came of it; keeps its health up to date. `now` gives milliseconds. */
  ask({ body, id, heavy }: Asked, limits: ExchangeLimits, now: () => number): Promise<Verdict> {
    return new Promise((resolve, reject) => {
      const begin = performance.now()
      const over = heavy ? null : this.#outstanding.begin(now())
      this.#post(body, limits, exchange => {
        if (over !== null) this.#outstanding.end(over)
        try {
          const verdict = judge(exchange, id, this.#family)
          // Nobody will read the rest of it.
          if (exchange.kind === 'open' && verdict.kind !== 'open') exchange.tail.destroy()
          if (this.#family === 'solana' && verdict.kind === 'setback' && verdict.why === 'syncing')
            this.isBehind(verdict.answer)
          this.#learn(verdict, heavy ? null : performance.now() - begin, now)
          resolve(verdict)
        } catch (error) {
          reject(error instanceof Error ? error : new Error('a reply could not be judged', { cause: error }))
        }
      })
    })
  }

  /** Lets a client's request through as it is and says what came of it, as `ask` does. `timeout` is until its head. */
  async pass(
    passage: Passage,
    { timeout, heavy }: { readonly timeout: number; readonly heavy: boolean },
    now: () => number,
  ): Promise<ReplyHead | Setback> {
    const begin = performance.now()
    const over = heavy ? null : this.#outstanding.begin(now())
    this.room.enter()
    this.#hop ??= this.#openHop()
    const result = await this.#hop.send(passage, timeout)
    if (over !== null) this.#outstanding.end(over)
    const verdict = judgeHead(result)
    if (result.kind === 'breach') this.room.leave()
    else {
      result.reply.once('close', () => {
        this.room.leave()
      })
      if (verdict.kind === 'setback') result.reply.destroy()
    }
    this.#learn(verdict, heavy ? null : performance.now() - begin, now)
    return verdict
  }

  #learn(verdict: Verdict | ReplyHead, ms: number | null, now: () => number): void {
    if (verdict.kind !== 'setback') {
      this.breaker.succeeded()
      if (ms !== null) this.latency.add(ms)
    } else if (verdict.coolDownMs !== null) this.coolDown.begin(verdict.coolDownMs, verdict.why, now())
    else if (verdict.fault) this.breaker.failed(verdict.why, now())
  }

  /** Asks the node something of our own, without a word about its health. */
  async probe(method: string, params: Raw, timeout: number): Promise<Verdict> {
    const body = `{"jsonrpc":"2.0","id":1,"method":"${method}","params":${params}}`
    return judge(
      await this.exchange(body, { timeout, holdBack: Infinity, maxBytes: MAX_PROBE, signal: null }),
      1,
      this.#family,
    )
  }

  /** Whether it is known to have come to a block. */
  hasReached(number: number, scale: Scale = 'head'): boolean {
    const come = scale === 'head' ? this.head : this.slots.at(scale)
    return come !== null && come >= number
  }

  /** Sends one request body and waits for the reply, or for what broke it. */
  exchange(body: Raw, limits: ExchangeLimits): Promise<Exchange> {
    return new Promise(resolve => {
      this.#post(body, limits, resolve)
    })
  }

  #post(body: Raw, limits: ExchangeLimits, done: (exchange: Exchange) => void): void {
    const { path, headers } = this.#target
    this.#dispatch({ path, method: 'POST', headers, body: Buffer.from(body, 'latin1') }, limits, done)
  }

  /** Fetches a path below the route's URL, for questions of our own. */
  fetch(path: string, timeout: number): Promise<Exchange> {
    const [base = '', query] = this.#target.path.split('?', 2)
    const whole = base.replace(/\/+$/, '') + path + (query === undefined ? '' : `?${query}`)
    const limits = { timeout, holdBack: Infinity, maxBytes: MAX_PROBE, signal: null }
    return new Promise(resolve => {
      this.#dispatch({ path: whole, method: 'GET', headers: this.#target.headers }, limits, resolve)
    })
  }

  #dispatch(
    request: Omit<Dispatcher.DispatchOptions, 'origin'>,
    limits: ExchangeLimits,
    done: (exchange: Exchange) => void,
  ): void {
    this.room.enter()
    const collector = new Collector(limits, exchange => {
      this.room.leave()
      done(exchange)
    })
    this.#connections.dispatch(request, collector)
  }

  /** Waits for calls in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#connections.close()
  }

  /** Cuts the connections. */
  destroy(): Promise<void> {
    this.#hop?.destroy()
    return this.#connections.destroy()
  }
}
