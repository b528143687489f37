/** Methods that routes have turned out to lack. */
import { isPattern } from '../net/patterns.ts'
import type { Route, Rule } from '../snapshot/types.ts'
import { REMEMBERED } from './health/by-caller.ts'
import { Confirmation } from './health/confirmation.ts'
import type { LiveRoute } from './live-route.ts'
import type { ReplyHead } from './transport/proxy/proxied-request.ts'
import type { Verdict } from './transport/verdict.ts'

/** Milliseconds for which a caller's own answer counts: the node, or the plan at its provider, may have the method by then. */
const LIVES = 600_000

const NONE: readonly string[] = []

/** What is known of one method that a route may lack. */
interface Lack {
  /** Until when callers keep away whose own calls drew the answer; the oldest makes room. */
  readonly callers: Map<string, number>
  /** Callers whom the route has answered since, whatever a probe draws; the oldest makes room. */
  readonly answered: Set<string>
  /** Whether everybody does, as a probe without params drew it too. */
  readonly confirmation: Confirmation<true>
  /** Whether a caller got a result since: then a probe that finds the method ends this for all callers. */
  isInDoubt: boolean
}

/** A call that a route was sent. */
interface SentCall {
  readonly route: Pick<Route, 'id' | 'errors'>
  readonly live: Pick<LiveRoute, 'lacks'>
  readonly method: string
  readonly rule: Rule
  readonly caller: string
}

/** Who keeps away from a route for the want of a method: callers who were told so, or everybody. */
export type LackedBy = 'one caller' | 'everybody'

/**
 * What routes lack. An answer keeps the caller away whose call drew it, as it may be about the params of that call; everybody stays away if a
 * probe draws it too. Bounded, as only methods are learned that the catalogue names. Times are in milliseconds of a monotonic clock.
 */
export class Unsupported {
  /** By route, then by method. */
  readonly #known = new Map<string, Map<string, Lack>>()

  /** Takes in how a try ended. A method that only a pattern covers is not learned: clients make up as many as they like. */
  take(verdict: Verdict | ReplyHead, call: SentCall, now: number): void {
    if (isAnswer(verdict)) {
      if (this.#known.size > 0) this.#doubt(call, now)
    } else if (verdict.kind === 'failure' && verdict.why === 'unsupported' && !isPattern(call.rule.match))
      this.#learn(call, now)
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
      const lack = this.#known.get(route)?.get(method)
      if (lack === undefined || (caller !== undefined && lack.answered.has(caller))) return false
      return (caller !== undefined && isOwn(lack, caller, now)) || lack.confirmation.check(now) === true
    })
    return lacking.length === 0 ? NONE : lacking
  }

  /** Who passes over a route for the want of a method; null when nobody does. */
  lackedBy(route: string, method: string, now: number): LackedBy | null {
    const lack = this.#known.get(route)?.get(method)
    if (lack === undefined) return null
    if (lack.confirmation.peek(now) === true) return 'everybody'
    return [...lack.callers.values()].some(until => now < until) ? 'one caller' : null
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

  #learn({ route, live, method, rule, caller }: SentCall, now: number): void {
    const methods = this.#known.get(route.id) ?? new Map<string, Lack>()
    this.#known.set(route.id, methods)
    const lack = methods.get(method) ?? newLack(() => live.lacks(rule, route.errors))
    methods.set(method, lack)
    const { callers } = lack
    lack.answered.delete(caller)
    callers.delete(caller)
    if (callers.size >= REMEMBERED) callers.delete(callers.keys().next().value!)
    callers.set(caller, now + LIVES)
    lack.confirmation.suspect(now)
  }

  /**
   * A result shows that the route has the method for these params. Its caller is sent there again; for others a probe
   * decides, which one caller cannot have sent more often than that.
   */
  #doubt({ route: { id }, method, caller }: SentCall, now: number): void {
    const methods = this.#known.get(id)
    const lack = methods?.get(method)
    if (methods === undefined || lack === undefined) return
    const { callers, answered, confirmation } = lack
    callers.delete(caller)
    if (callers.size > 0 || confirmation.peek(now) !== null) {
      if (answered.size >= REMEMBERED) answered.delete(answered.values().next().value!)
      answered.add(caller)
      lack.isInDoubt = true
      confirmation.suspect(now)
    } else if (confirmation.isDue(now) && methods.delete(method) && methods.size === 0) this.#known.delete(id)
  }
}

function newLack(probe: () => Promise<true | null | undefined>): Lack {
  const callers = new Map<string, number>()
  const confirmation = new Confirmation(async () => {
    const wasInDoubt = lack.isInDoubt
    lack.isInDoubt = false
    const found = await probe()
    if (found === null && wasInDoubt) callers.clear()
    return found
  })
  const lack: Lack = { callers, answered: new Set(), confirmation, isInDoubt: false }
  return lack
}

function isOwn({ callers }: Lack, caller: string, now: number): boolean {
  return now < (callers.get(caller) ?? -Infinity)
}

/** Whether it shows that the route has the method; an error of the node may not. */
function isAnswer(verdict: Verdict | ReplyHead): boolean {
  if (verdict.kind === 'head') return verdict.status < 400
  return verdict.kind === 'result' || (verdict.kind === 'open' && verdict.member === 'result')
}
