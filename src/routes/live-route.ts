/** A route while it lives: its connections, its health and what is known of its pace and chain. */
import type { Raw } from '../jsonrpc/raw.ts'
import type { ErrorRow, Family, Route, Rule } from '../snapshot/types.ts'
import { familyOf } from '../families/families.ts'
import type { Question } from '../families/probing.ts'
import { refusalOf } from './body-reply.ts'
import type { Exchange, ExchangeLimits } from './transport/exchange.ts'
import { CallHealth } from './health/call-health.ts'
import { Latency, type Unanswered } from './health/load.ts'
import { Batching } from './batching.ts'
import { Gather, type Gathering, type OneBody, type RouteParts } from './gather.ts'
import { OWN, RouteClient } from './transport/route-client.ts'
import { RouteBreaker } from './health/route-breaker.ts'
import { RoutePauses } from './health/route-pauses.ts'
import { whyDown, whyNot, whyUnhealthy } from './health/why-not.ts'
import type { HeightKind } from '../families/height-kind.ts'
import { RouteLimits, type RouteSharing } from './route-limits.ts'
import { ShownBlock } from './shown-block.ts'
import { Slots } from './slots.ts'
import { judge, type Failure, type Verdict } from './transport/verdict.ts'
import { isCrossed, ofThisCall, paidFor, type Asked } from './asked.ts'
import { HttpProxy } from './transport/proxy/http-proxy.ts'
import { judgeHead, NOT_IMPLEMENTED } from './transport/proxy/judge.ts'
import type { ProxiedRequest, ReplyHead } from './transport/proxy/proxied-request.ts'

/** Bytes of an answer to a question of our own. */
const MAX_PROBE = 1024 * 1024

/** Milliseconds for an answer to whether calls are right about a route. */
const PATIENCE = 4_000

/** Ids of the calls in a body of probes: so few that a limit on their number, which only longer batches meet, is no refusal. */
const PROBES = [1, 2, 3] as const

function requestOf(id: number, method: string, params: Raw): Raw {
  return `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
}

/** One way to an upstream; opened when the snapshot names it, closed when it no longer does. */
export class LiveRoute {
  readonly id: string
  /** Slug of its network. */
  readonly network: string
  /** How long it takes to answer. */
  readonly latency = new Latency()
  readonly breaker = new RouteBreaker(this.latency)
  readonly pauses: RoutePauses
  readonly limits: RouteLimits
  readonly batching: Batching
  /** Last block or slot that it showed and that is believed; null until there is one. */
  head: number | null = null
  /** The last one that it claimed, believed or not. */
  claimed: number | null = null
  /** Since when calls of everybody keep away from it, in milliseconds of the monotonic clock; null while they do not. */
  downSince: number | null = null
  /** When it last came back from being down for `RESTART` or longer, by the same clock; null when it never did. */
  restartedAt: number | null = null
  /** The newest block that it reported to be final; null while it has not. */
  final: number | null = null
  /** Whether it was asked and has never answered. */
  silent = false
  /** What speaks against it ever serving: a wrong chain. Null when nothing does. */
  fault: string | null = null
  syncing = false
  /** How far behind the cluster its node says that it is; null when it does not. */
  slotsBehind: number | null = null
  /** Oldest slot that it keeps; null until it has told, and where it keeps all. */
  firstSlot: number | null = null
  readonly slots = new Slots()
  readonly shown = new ShownBlock()
  /** Whether it has been asked for its chain, and did not say another one. */
  identified = false
  readonly #client: RouteClient
  /** The same, for bodies of several calls. */
  readonly #parts: RouteParts
  readonly #family: Family
  readonly #question: Question | null
  readonly #openProxy: () => HttpProxy
  readonly #unsure: (live: LiveRoute) => void
  readonly #health: CallHealth
  #proxy: HttpProxy | null = null

  /**
   * `unsure` is called when a probe could say more: calls of one caller speak against it, or wait for a block of it. `question`: what it can be
   * asked to see whether it answers.
   */
  constructor(
    route: Route,
    connectTimeout: number,
    family: Family = 'evm',
    unsure: (live: LiveRoute) => void = () => undefined,
    sharing?: RouteSharing,
    question: Question | null = null,
  ) {
    this.id = route.id
    this.network = route.network
    this.#unsure = unsure
    this.limits = new RouteLimits(route.id, route.limits, sharing)
    this.batching = new Batching(route.batch, () => this.refusesBodies())
    this.pauses = new RoutePauses(this.limits.pace)
    this.#health = new CallHealth(this.latency, this.breaker, this.pauses, () => {
      unsure(this)
    })
    this.#family = family
    this.#question = question
    this.#client = new RouteClient(route, connectTimeout, this.limits)
    this.#parts = { client: this.#client, limits: this.limits, batching: this.batching }
    this.#openProxy = () => new HttpProxy(route, connectTimeout)
  }

  /**
   * Why everybody's calls keep away from it at `now`, as a sentence for the operator; null when they do not. `suspected`: or those of callers
   * whom it has not answered, as the calls of several others fail.
   */
  whyNot(now: number, suspected = false): string | null {
    return whyNot(this, now, suspected)
  }

  /** The same, or why it is not known to serve again though a call may try it. */
  whyUnhealthy(now: number, suspected = false): string | null {
    return whyUnhealthy(this, now, suspected)
  }

  /** Why no call can count on it; null while it answers, though it may be syncing. */
  whyDown(now: number, suspected = false): string | null {
    return whyDown(this, now, suspected)
  }

  /** Milliseconds until it is tried again; 0 where no pause keeps calls away. */
  retryIn(now: number): number {
    return Math.max(this.pauses.left(now), this.breaker.retryIn(now))
  }

  /** Whether several calls have been in flight for far longer than usual: for `caller`, or without one for who was never answered. */
  isHanging(now: number, caller?: string): boolean {
    return this.#health.isHanging(now, caller)
  }

  /** A call waits until this route, or another one, is known to have come to a block: what is known of it may be seconds old. */
  lookAgain(now: number): void {
    if (this.whyNot(now) === null) this.#unsure(this)
  }

  /** Whether calls of somebody speak against it. */
  isSuspect(now: number): boolean {
    return this.#health.isSuspect(now)
  }

  /**
   * Sends one call and returns what came of it; keeps its health up to date. `now` is the monotonic clock. With a `message` it may go
   * in one body with others of it.
   */
  ask(
    asked: Asked,
    limits: ExchangeLimits,
    now: () => number,
    message: Gathering | null = null,
  ): Promise<Verdict> {
    const { body, id, heavy, caller, departure, flight, traceparent } = asked
    return new Promise((resolve, reject) => {
      let begin = NaN
      let over: Unanswered | null = null
      const begun = (isCounted = true): void => {
        begin = now()
        flight?.sent(begin, this.id)
        if (!heavy && isCounted) over = this.#health.begin(begin, caller)
      }
      const done = (exchange: Exchange, outcome: OneBody | null): void => {
        if (over !== null) this.#health.end(over)
        try {
          const verdict = paidFor(ofThisCall(judge(exchange, id, asked), asked), exchange)
          // Nobody will read the rest of it.
          if (exchange.kind === 'open' && verdict.kind !== 'open') exchange.tail.destroy()
          if (exchange.kind === 'whole' && isCrossed(verdict)) exchange.retire?.()
          this.#health.learn(verdict, heavy ? null : now() - begin, caller, now, asked.isLate?.(), outcome)
          resolve(verdict)
        } catch (error) {
          reject(error instanceof Error ? error : new Error('a reply could not be judged', { cause: error }))
        }
      }
      const most = message === null ? 1 : this.batching.most(now(), caller)
      if (message !== null && most > 1) {
        message.gather ??= new Gather(message)
        message.gather.add(this.#parts, { asked, limits, begun, done }, most, now)
      } else
        this.#client.post(body, limits, { caller, begun, departure, traceparent }, exchange => {
          done(exchange, null)
        })
    })
  }

  /** Lets a client's request through as it is and says what came of it, as `ask` does. `timeout` is until its head. */
  async pass(
    proxied: ProxiedRequest,
    {
      timeout,
      heavy,
      caller,
      traceparent,
    }: Pick<Asked, 'heavy' | 'caller' | 'traceparent'> & { readonly timeout: number },
    now: () => number,
  ): Promise<ReplyHead | Failure> {
    const begin = now()
    const over = heavy ? null : this.#health.begin(begin, caller)
    this.limits.enter(caller)
    this.#proxy ??= this.#openProxy()
    const result = await this.#proxy.send(proxied, timeout, traceparent)
    if (over !== null) this.#health.end(over)
    const verdict = judgeHead(result)
    if (result.kind === 'failure') this.limits.leave(caller)
    else {
      result.reply.once('close', () => {
        this.limits.leave(caller)
      })
      if (verdict.kind === 'failure') result.body.destroy()
    }
    this.#health.learn(verdict, heavy ? null : now() - begin, caller, now)
    return verdict
  }

  /** Asks the node something of our own, without a word about its health. */
  async probe(
    method: string,
    params: Raw,
    timeout: number,
    rows: readonly ErrorRow[] = [],
  ): Promise<Verdict> {
    const limits = { timeout, holdBack: Infinity, maxBytes: MAX_PROBE, departure: null }
    const call = { family: this.#family, method, params, isRange: false, rows }
    return judge(await this.exchange(requestOf(1, method, params), limits), 1, call)
  }

  /**
   * Calls an exact row's method without params, to learn whether the route has it: null where it has, undefined where it did not say. What
   * might change something without params is not called.
   */
  async lacks(
    { match, retry, sends, sticky }: Rule,
    rows: readonly ErrorRow[],
  ): Promise<true | null | undefined> {
    if (familyOf({ family: this.#family }).wire === 'http') {
      if (!match.startsWith('GET ')) return undefined
      const page = await this.fetch(match.slice('GET '.length), PATIENCE)
      return page.kind === 'broken' ? undefined : page.status === NOT_IMPLEMENTED ? true : null
    }
    if (retry !== 'safe' && !sends && sticky === null) return undefined
    const verdict = await this.probe(match, '[]', PATIENCE, rows)
    if (verdict.kind !== 'failure') return null
    return verdict.why === 'unsupported' ? true : undefined
  }

  /** Sends probes in one body, to learn why the upstream does not take it; null where it does, undefined where it did not say. */
  async refusesBodies(): Promise<string | null | undefined> {
    if (this.#question === null) return undefined
    const [method, params] = this.#question
    const call = { family: this.#family, method, params, isRange: false, rows: [] }
    const body = `[${PROBES.map(id => requestOf(id, method, params)).join(',')}]`
    const limits = { timeout: PATIENCE, holdBack: Infinity, maxBytes: MAX_PROBE, departure: null }
    return refusalOf(
      await this.exchange(body, limits),
      PROBES.map(id => ({ ...call, id })),
    )
  }

  /** Whether it is known to have come to a block. */
  hasReached(number: number, scale: HeightKind, now: number): boolean {
    if (scale !== 'head') return (this.slots.at(scale) ?? -1) >= number
    return (this.head ?? -1) >= number || this.shown.hasReached(number, now)
  }

  /** Sends one request body of our own and waits for the reply, or for what broke it. */
  exchange(body: Raw, limits: ExchangeLimits): Promise<Exchange> {
    return new Promise(resolve => {
      this.#client.post(body, limits, OWN, resolve)
    })
  }

  /** Fetches a path below the route's URL, for questions of our own. */
  fetch(path: string, timeout: number): Promise<Exchange> {
    const limits = { timeout, holdBack: Infinity, maxBytes: MAX_PROBE, departure: null }
    return new Promise(resolve => {
      this.#client.get(path, limits, OWN, resolve)
    })
  }

  /** Waits for calls in flight, then closes the connections. */
  close(): Promise<void> {
    return this.#client.close()
  }

  /** Cuts the connections. */
  destroy(): Promise<void> {
    this.#health.letGo()
    this.#proxy?.destroy()
    return this.#client.destroy()
  }
}
