/** Finds the counter of a call without building a key per call. */

/** Whose usage a counter holds. */
export interface Owner {
  readonly account: { readonly id: string; readonly plan: string }
  readonly endpoint: { readonly id: string; readonly network: string }
}

const NONE: readonly UsageCounter[] = []

/** Endpoints whose counters are kept while they are quiet. */
const REMEMBERED = 20_000
/** Methods of an endpoint that have a row of their own in an hour although all their calls were refused. */
const REFUSED_ONLY = 8
/** The row of refused calls that have no other. */
const OTHER = 'other'

/** The counters of one endpoint. */
interface Endpoint {
  readonly methods: Map<string, UsageCounter>
  /** The hour in which a refused call last made a row, and how many it made in that hour. */
  hour: number
  refusedOnly: number
}

/** The counters in use now, by endpoint and method; holds the latest hour of each. */
export class UsageCounters {
  readonly #byEndpoint = new Map<string, Endpoint>()
  /** What is to be folded, in the order of their places. */
  readonly #touched: UsageCounter[] = []
  #last = 0
  /** The touched ones of each account, in the same order. */
  readonly #byAccount = new Map<string, UsageCounter[]>()
  /** Endpoints of counters that were folded since quiet ones were last forgotten. */
  #lively = new Set<string>()

  /** Takes in what a killed process has left in the journal, with the places that it has there; `last` is the last that was given. */
  recover(counters: readonly UsageCounter[], last: number): void {
    this.#last = last
    counters.forEach(counter => {
      this.#push(counter)
    })
  }

  /** The counter of an owner, method, hour and window, marked as having something for the ledger. */
  touch(owner: Owner, method: string, hour: number, window: number): UsageCounter {
    const counter = this.#find(owner, method, hour, window)
    this.touchAgain(counter)
    return counter
  }

  /**
   * The same for a refused call. It costs its caller nothing, so it makes rows for a few methods only; the others are counted as one until a
   * call of theirs is charged.
   */
  touchRefused(owner: Owner, method: string, hour: number): UsageCounter {
    const { id, network } = owner.endpoint
    const endpoint = this.#endpoint(id)
    const known = endpoint.methods.get(method)
    if (known?.hour === hour && known.network === network && known.plan === owner.account.plan) {
      this.touchAgain(known)
      return known
    }
    if (method === OTHER) return this.touch(owner, OTHER, hour, 0)
    if (endpoint.hour !== hour) {
      endpoint.hour = hour
      endpoint.refusedOnly = 0
    }
    if (endpoint.refusedOnly >= REFUSED_ONLY) return this.touchRefused(owner, OTHER, hour)
    endpoint.refusedOnly += 1
    return this.touch(owner, method, hour, 0)
  }

  /** Marks a counter that is held already. */
  touchAgain(counter: UsageCounter): void {
    if (counter.place > 0) return
    this.#last += 1
    counter.place = this.#last
    this.#push(counter)
  }

  /** The touched counters of an account. */
  of(account: string): readonly UsageCounter[] {
    return this.#byAccount.get(account) ?? NONE
  }

  /** The last place that was given. */
  get last(): number {
    return this.#last
  }

  /** The touched counters, in the order of their places. */
  contents(): readonly UsageCounter[] {
    return this.#touched
  }

  /** Empties the first `count` touched counters, which the ledger has taken over. Those with charges that wait for a commit are touched again. */
  release(count: number): void {
    const released = this.#touched.splice(0, count)
    const counts = new Map<string, number>()
    for (const { account } of released) counts.set(account, (counts.get(account) ?? 0) + 1)
    for (const [account, own] of counts) {
      const counters = this.#byAccount.get(account)
      if (counters?.length === own) this.#byAccount.delete(account)
      else counters?.splice(0, own)
    }
    for (const counter of released) {
      this.#lively.add(counter.endpoint)
      empty(counter)
      if (counter.waitingCalls > 0) this.touchAgain(counter)
    }
  }

  /** Gives places from the first again: none is in use, and the journal is empty. */
  startAnew(): void {
    this.#last = 0
  }

  /** Forgets endpoints that were quiet since this was last called, when there are many. */
  forgetQuiet(): void {
    const lively = this.#lively
    this.#lively = new Set()
    if (this.#byEndpoint.size <= REMEMBERED) return
    for (const { endpoint } of this.#touched) lively.add(endpoint)
    for (const endpoint of this.#byEndpoint.keys())
      if (!lively.has(endpoint)) this.#byEndpoint.delete(endpoint)
  }

  #push(counter: UsageCounter): void {
    this.#touched.push(counter)
    const others = this.#byAccount.get(counter.account)
    if (others === undefined) this.#byAccount.set(counter.account, [counter])
    else others.push(counter)
  }

  #find({ account, endpoint }: Owner, method: string, hour: number, window: number): UsageCounter {
    const { methods } = this.#endpoint(endpoint.id)
    const { id, network } = endpoint
    const counter = methods.get(method)
    if (
      counter?.hour === hour &&
      counter.window === window &&
      counter.network === network &&
      counter.plan === account.plan
    )
      return counter
    const { id: owner, plan } = account
    const fresh = newCounter({ account: owner, endpoint: id, network, method, hour, window, plan })
    methods.set(method, fresh)
    return fresh
  }

  #endpoint(id: string): Endpoint {
    let endpoint = this.#byEndpoint.get(id)
    if (endpoint === undefined) {
      endpoint = { methods: new Map(), hour: 0, refusedOnly: 0 }
      this.#byEndpoint.set(id, endpoint)
    }
    return endpoint
  }
}

/** A counter: what one endpoint used of one method within one hour, one quota window and one plan. */
export interface CounterKey {
  readonly account: string
  readonly endpoint: string
  readonly network: string
  /** The rule's name, never a name that only a client chose. */
  readonly method: string
  /** Unix seconds. */
  readonly hour: number
  /** Start of the quota window in Unix seconds; 0 without a quota. */
  readonly window: number
  /** The plan of the moment: what is paid for the calls may depend on it. */
  readonly plan: string
}

/** What has come to a counter since the ledger last took it over. */
export interface UsageCounter extends CounterKey {
  calls: number
  requests: number
  /** Calls that a node answered with an error. */
  errors: number
  refusals: number
  /** The refusals by reason; null while there are none. */
  reasons: Map<string, number> | null
  bytesOut: number
  upstreamMs: number
  /** Calls by how long upstreams took (ports/latency.ts); null while there are none. */
  latency: number[] | null
  /** Its place among the counters that are to be folded, which go in this order, from 1; 0 while it has nothing for the ledger. */
  place: number
  /** Whether the journal says whose that place is. */
  named: boolean
  /** Calls charged in the batch of commits that is open; not yet among `calls`. */
  waitingCalls: number
  /** Their requests. */
  waitingRequests: number
}

/** A counter with nothing in it. */
export function newCounter({
  account,
  endpoint,
  network,
  method,
  hour,
  window,
  plan,
}: CounterKey): UsageCounter {
  // One literal, so that all counters have one shape: they are met by every call.
  return {
    account,
    endpoint,
    network,
    method,
    hour,
    window,
    plan,
    calls: 0,
    requests: 0,
    errors: 0,
    refusals: 0,
    reasons: null,
    bytesOut: 0,
    upstreamMs: 0,
    latency: null,
    place: 0,
    named: false,
    waitingCalls: 0,
    waitingRequests: 0,
  }
}

/** Takes out what the ledger has taken over. */
export function empty(counter: UsageCounter): void {
  counter.calls =
    counter.requests =
    counter.errors =
    counter.refusals =
    counter.bytesOut =
    counter.upstreamMs =
      0
  counter.reasons = null
  counter.latency = null
  counter.place = 0
  counter.named = false
}
