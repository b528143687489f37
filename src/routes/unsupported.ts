/** Methods that routes have turned out to lack. */
import { isPattern } from '../net/patterns.ts'
import type { Rule } from '../snapshot/types.ts'
import { SPEAK_FOR_ALL } from './health/by-caller.ts'
import type { ReplyHead } from './transport/proxy/proxied-request.ts'
import type { Verdict } from './transport/verdict.ts'

/** Milliseconds after which a route is asked for a method again: its node, or the plan at its provider, may have it by then. */
const LIVES = 600_000

const NONE: readonly string[] = []

/** An answer of a route that it does not have a method. */
interface Lack {
  /** Whose call drew it. */
  readonly caller: string
  readonly until: number
}

/** What was asked of a route, and for whom. */
interface Asked {
  readonly route: string
  readonly method: string
  readonly rule: Pick<Rule, 'match'>
  readonly caller: string
}

/** Who keeps away from a route for the want of a method: the caller who was told so, or everybody. */
export type LackedBy = 'one caller' | 'everybody'

/**
 * What routes lack. An answer keeps the caller away whose call drew it, as it may be about what that call asked for; everybody, once two
 * callers have drawn it. Bounded, as only methods are learned that the catalogue names. Times are in milliseconds of a monotonic clock.
 */
export class Unsupported {
  /** By route, then by method; of a method the last two. */
  readonly #known = new Map<string, Map<string, readonly Lack[]>>()

  /** Takes in how a try ended. A method that only a pattern covers is not learned: clients make up as many as they like. */
  take(verdict: Verdict | ReplyHead, { route, method, rule: { match }, caller }: Asked, now: number): void {
    if (isAnswer(verdict)) {
      if (this.#known.size > 0) this.#forget(route, method)
    } else if (verdict.kind === 'failure' && verdict.why === 'unsupported' && !isPattern(match))
      this.#learn(route, method, caller, now)
  }

  /** Those of the routes that calls of this caller pass over; without one, everybody's. */
  among(
    routes: readonly string[],
    method: string,
    caller: string | undefined,
    now: number,
  ): readonly string[] {
    if (this.#known.size === 0) return NONE
    const lacking = routes.filter(route => {
      const lacks = lasting(this.#known.get(route)?.get(method), now)
      return lacks.length >= SPEAK_FOR_ALL || lacks.some(lack => lack.caller === caller)
    })
    return lacking.length === 0 ? NONE : lacking
  }

  /** Who passes over a route for the want of a method; null when nobody does. */
  lackedBy(route: string, method: string, now: number): LackedBy | null {
    const { length } = lasting(this.#known.get(route)?.get(method), now)
    return length === 0 ? null : length < SPEAK_FOR_ALL ? 'one caller' : 'everybody'
  }

  /** The methods that a route said that it lacks, to one caller at least. */
  of(route: string, now: number): readonly string[] {
    const methods = this.#known.get(route)
    if (methods === undefined) return NONE
    return [...methods.keys()].filter(method => this.lackedBy(route, method, now) !== null).sort()
  }

  /** Forgets everything: an edit may have put other upstreams behind the same names, or read their answers otherwise. */
  clear(): void {
    this.#known.clear()
  }

  #learn(route: string, method: string, caller: string, now: number): void {
    const methods = this.#known.get(route) ?? new Map<string, readonly Lack[]>()
    this.#known.set(route, methods)
    const others = lasting(methods.get(method), now).filter(lack => lack.caller !== caller)
    methods.set(method, [...others, { caller, until: now + LIVES }].slice(-SPEAK_FOR_ALL))
  }

  #forget(route: string, method: string): void {
    const methods = this.#known.get(route)
    if (methods?.delete(method) === true && methods.size === 0) this.#known.delete(route)
  }
}

/** Whether it shows that the route has the method; an error of the node may not. */
function isAnswer(verdict: Verdict | ReplyHead): boolean {
  if (verdict.kind === 'head') return verdict.status < 400
  return verdict.kind === 'result' || (verdict.kind === 'open' && verdict.member === 'result')
}

function lasting(lacks: readonly Lack[] = [], now: number): readonly Lack[] {
  return lacks.filter(({ until }) => now < until)
}
