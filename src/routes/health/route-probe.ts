/** Probes one route at a time: its family asks the questions, and their answers are taken in as findings about the route. */
import { familyOf } from '../../families/families.ts'
import type { Page, Probing, Told } from '../../families/probing.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Network } from '../../snapshot/types.ts'
import type { Heads } from '../heads.ts'
import type { LiveRoute } from '../live-route.ts'
import { reportOf } from './report.ts'
import type { Outcome, RouteReport } from './report.ts'
import { takeIdentity, takeOutcome } from './take-in.ts'
import { withCause } from '../transport/cause.ts'
import { statusFailure, type Failure } from '../transport/verdict.ts'
import type { Upstreams } from '../upstreams.ts'

/** Milliseconds that an answer may take: usually, and where calls have said that something is wrong. */
const PATIENCE = 4_000
const PATIENCE_WHEN_SUSPECT = 2_000
/** Milliseconds between two questions for the chain's identity. */
const IDENTITY_EVERY = 300_000

/** What a probe works on. */
export interface ProbeParts {
  readonly upstreams: Pick<Upstreams, 'of' | 'definition'>
  readonly heads: Heads
  /** Milliseconds of a monotonic clock. */
  readonly now: () => number
  readonly events: ProbeEvents
}

/** Hears what a probe finds out. */
export interface ProbeEvents {
  /** A route serves another chain than it should; it gets no call until that changes. */
  wrongChain(network: string, route: string, why: string): void
}

/** What the probes of one route have come to so far. */
interface Findings {
  outcome: Outcome | null
  /** Number of its last claim of a height. */
  claim: number
}

/** Probes routes; remembers when each was asked what, and what came of it. */
export class RouteProbe {
  readonly #parts: ProbeParts
  readonly #findings = new WeakMap<LiveRoute, Findings>()
  readonly #run = Date.now()
  readonly #askedAt = new WeakMap<LiveRoute, Map<string, number>>()
  /** Those that did not answer since: another node may be there now. */
  readonly #lost = new WeakSet<LiveRoute>()

  constructor(parts: ProbeParts) {
    this.#parts = parts
  }

  /** Whether the route was probed before. */
  knows(live: LiveRoute): boolean {
    return this.#askedAt.has(live)
  }

  /** What is known of a route, for another process. */
  report(network: Network, live: LiveRoute): RouteReport {
    const { outcome, claim } = this.#found(live)
    const { upstreams, heads, now } = this.#parts
    const definition = upstreams.definition(live.id) ?? ''
    return reportOf(network, live, { definition, run: this.#run, heads, outcome, claim, now: now() })
  }

  /** How far the route has come, whether it is well and, now and then, which chain it serves. */
  async probe(network: Network, live: LiveRoute): Promise<void> {
    const probing = this.#probing(network, live, PATIENCE, isResult => {
      if (isResult) this.#note(live, 'answered')
    })
    const isDue = probing.isDue('identity', IDENTITY_EVERY)
    if (isDue || !live.identified || this.#isLost(live)) await this.#identify(network, live)
    await familyOf(network).probe(probing)
  }

  /** Whether what calls say about the route is true. */
  async confirm(network: Network, live: LiveRoute): Promise<void> {
    const family = familyOf(network)
    if (family.wire === 'json-rpc' && this.#isLost(live)) await this.#identify(network, live)
    const probing = this.#probing(network, live, PATIENCE_WHEN_SUSPECT, () => {
      this.#note(live, 'not confirmed')
    })
    await family.confirm(probing)
  }

  #isLost(live: LiveRoute): boolean {
    return this.#lost.has(live) || live.breaker.state(this.#parts.now()) === 'open'
  }

  async #identify(network: Network, live: LiveRoute): Promise<void> {
    const probing = this.#probing(network, live, PATIENCE, () => undefined)
    this.#asked(live).set('identity', this.#parts.now())
    const fault = await familyOf(network).identify(probing)
    if (fault === undefined) return
    this.#lost.delete(live)
    if (fault !== null && live.fault === null) this.#parts.events.wrongChain(network.slug, live.id, fault)
    takeIdentity(live, { identified: fault === null, fault })
  }

  /** One look; `succeeded` is called when the route answers, with whether that was a result. */
  #probing(
    network: Network,
    live: LiveRoute,
    patience: number,
    succeeded: (isResult: boolean) => void,
  ): Probing {
    const { upstreams, heads, now } = this.#parts
    const ask = (method: string, params: Raw) => live.probe(method, params, patience)
    return {
      network,
      route: live,
      now,
      ask: async (method, params) => toldBy(await ask(method, params)),
      askAlive: async (method, params) => {
        const verdict = await ask(method, params)
        if (verdict.kind === 'failure') this.#noteFailure(live, verdict)
        else succeeded(verdict.kind === 'result')
        return toldBy(verdict)
      },
      get: async (path): Promise<Page> => {
        const page = await live.fetch(path, patience)
        const complaint =
          page.kind === 'whole' ? statusFailure(page.status, page.retryAfter)?.complaint : null
        if (complaint != null) live.pauses.complain(complaint, now())
        return page.kind === 'broken' ? { ...page, how: withCause(page.how, page.cause) } : page
      },
      alive: why => {
        if (why === null) succeeded(true)
        else this.#note(live, 'failed', why)
      },
      claim: height => {
        const found = this.#found(live)
        found.claim += 1
        heads.claim(network, live, height, upstreams.of(network), now())
      },
      isBehind: () => live.head === null || heads.lagOf(network, live) !== 'none',
      needsProof: () => heads.needsProof(network.slug, live, upstreams.of(network)),
      proved: height => {
        heads.show(network, live, height, upstreams.of(network), now())
      },
      final: block => {
        heads.finality.take(network, live, block)
      },
      isRead: scale => upstreams.of(network).some(({ slots }) => slots.at(scale) !== null),
      finalsToShow: () => heads.finality.toShow(network),
      finalShown: block => {
        heads.finality.show(network, live, block)
      },
      isDue: (question, every) => this.#isDue(live, question, every),
    }
  }

  #isDue(live: LiveRoute, question: string, every: number): boolean {
    const asked = this.#asked(live)
    if (this.#parts.now() - (asked.get(question) ?? -Infinity) < every) return false
    asked.set(question, this.#parts.now())
    return true
  }

  #asked(live: LiveRoute): Map<string, number> {
    let asked = this.#askedAt.get(live)
    if (asked === undefined) this.#askedAt.set(live, (asked = new Map<string, number>()))
    return asked
  }

  /** An idle route that is down is found out by us, and so is one that has come back. */
  #noteFailure(live: LiveRoute, { fault, why, cause, complaint }: Failure): void {
    if (fault) this.#lost.add(live)
    if (fault) this.#note(live, 'failed', withCause(why, cause))
    if (complaint !== null) live.pauses.complain(complaint, this.#parts.now())
  }

  /** How a look ended, for the breaker. */
  #note(live: LiveRoute, ended: Outcome['ended'], why: string | null = null): void {
    const found = this.#found(live)
    const { outcome: last } = found
    const inARow = last?.ended === ended ? last.inARow + 1 : 1
    const outcome = { number: (last?.number ?? 0) + 1, ended, why, inARow, at: this.#parts.now() }
    found.outcome = outcome
    takeOutcome(live, outcome, outcome.at)
  }

  #found(live: LiveRoute): Findings {
    let found = this.#findings.get(live)
    if (found === undefined) this.#findings.set(live, (found = { outcome: null, claim: 0 }))
    return found
  }
}

function toldBy(verdict: Awaited<ReturnType<LiveRoute['probe']>>): Told {
  if (verdict.kind === 'failure') return { kind: 'failed', why: verdict.why, said: verdict.said }
  return verdict.kind === 'result' ? verdict : { kind: 'error' }
}
