/** Follows the probes of another process, where routes are probed once a machine. */
import type { Clock } from '../../ports/clock.ts'
import type { Network, Snapshot } from '../../snapshot/types.ts'
import type { Heads } from '../heads.ts'
import type { LiveRoute } from '../live-route.ts'
import type { Upstreams } from '../upstreams.ts'
import { CONFIRM_EVERY, roundOf } from './prober.ts'
import type { RouteReport } from './report.ts'
import { RouteWatch } from './route-watch.ts'
import { forgetHeight, NOTHING_TAKEN, takeReport } from './take-in.ts'
import type { Taken } from './take-in.ts'

/** Rounds of probes without a report after which nobody knows how far a route has come: 15 s, unless there are thousands of routes. */
const SILENT_ROUNDS = 3
/** How often that is checked, in milliseconds. */
const CHECK_EVERY = 1_000

/** What a follower needs besides the routes. */
export interface FollowerOptions {
  /** Asks the process that probes to look at a route, by its id, because calls here speak against it: at most once a second a route. */
  suspect(route: string): void
  readonly clock: Pick<Clock, 'monotonic' | 'after'>
}

/** What was heard of a route last. */
interface Heard {
  readonly at: number
  readonly taken: Taken
}

/** A report that is not taken in yet. */
interface Came {
  readonly report: RouteReport
  readonly at: number
}

/** The log lines are those of the process that probes. */
const WITHOUT_LINES = {
  routeDown: (): void => undefined,
  routeUp: (): void => undefined,
  networkDown: (): void => undefined,
  networkUp: (): void => undefined,
}

/** Keeps the live routes of this process as another one finds them, as long as the gateway serves. */
export class ProbeFollower {
  readonly #upstreams: Upstreams
  readonly #heads: Heads
  readonly #options: FollowerOptions
  readonly #watch = new RouteWatch(WITHOUT_LINES)
  readonly #heard = new WeakMap<LiveRoute, Heard>()
  /** By route. Some come before it does: a reload reaches the processes of a machine at different moments. */
  readonly #came = new Map<string, Came>()
  readonly #suspectedAt = new WeakMap<LiveRoute, number>()
  #snapshot: Snapshot
  #stop: () => void
  #isClosed = false

  constructor(upstreams: Upstreams, heads: Heads, snapshot: Snapshot, options: FollowerOptions) {
    this.#upstreams = upstreams
    this.#heads = heads
    this.#snapshot = snapshot
    this.#options = options
    upstreams.whenUnsure(live => {
      this.#suspect(live)
    })
    this.#stop = this.#checkSoon()
  }

  /** Takes in all that is known of a route. Only the newest report of a route counts, and it may come more than once. */
  take(report: RouteReport): void {
    this.takeAll([report])
  }

  /** The same of several routes: claims of height are judged by what all routes of a network say. */
  takeAll(reports: readonly RouteReport[]): void {
    if (this.#isClosed) return
    const at = this.#options.clock.monotonic()
    for (const report of reports) this.#came.set(report.route, { report, at })
    this.#takeIn(reports.map(({ route }) => route))
  }

  /** Follows the routes of another snapshot from now on. */
  watch(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    const slugs = new Set(Object.keys(snapshot.networks))
    this.#heads.retain(slugs)
    this.#watch.retain(slugs)
    this.#takeIn([...this.#came.keys()])
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  /** Takes in what came of these routes, as far as this process serves them as they were defined there. */
  #takeIn(ids: readonly string[]): void {
    const takenIn = new Map<Network, (readonly [LiveRoute, RouteReport])[]>()
    for (const id of ids) {
      const { report, at } = this.#came.get(id) ?? {}
      const live = this.#upstreams.get(id)
      const network = this.#snapshot.networks[live?.network ?? '']
      if (report === undefined || at === undefined || live === undefined || network === undefined) continue
      if (this.#upstreams.definition(id) !== report.definition) continue
      this.#came.delete(id)
      const before = this.#heard.get(live)?.taken ?? NOTHING_TAKEN
      this.#heard.set(live, { at, taken: takeReport(live, report, this.#heads, before, at) })
      const others = takenIn.get(network)
      if (others === undefined) takenIn.set(network, [[live, report]])
      else others.push([live, report])
    }
    const now = this.#options.clock.monotonic()
    for (const [network, reports] of takenIn) {
      const routes = this.#upstreams.of(network)
      this.#heads.update(network, routes, now)
      const { finality } = reports.at(-1)![1]
      if (finality !== undefined) this.#heads.finality.takeReport(network, finality)
      for (const [live, report] of reports) this.#watch.check(network, live, routes, now, report)
    }
  }

  #suspect(live: LiveRoute): void {
    const now = this.#options.clock.monotonic()
    if (this.#isClosed || now - (this.#suspectedAt.get(live) ?? -Infinity) < CONFIRM_EVERY) return
    this.#suspectedAt.set(live, now)
    this.#options.suspect(live.id)
  }

  #checkSoon(): () => void {
    return this.#options.clock.after(CHECK_EVERY, () => {
      this.#stop = this.#checkSoon()
      this.#check()
    })
  }

  /** Forgets what nobody has confirmed for long; once more after as long again, as calls show the heights of some routes only. */
  #check(): void {
    const now = this.#options.clock.monotonic()
    const networks = Object.values(this.#snapshot.networks)
    const count = networks.reduce((sum, { routes }) => sum + routes.length, 0)
    const before = now - SILENT_ROUNDS * roundOf(count)
    for (const network of networks) {
      const routes = this.#upstreams.of(network)
      const silent = routes.filter(live => this.#isSilent(live, before, now))
      for (const live of silent) forgetHeight(live, this.#heads)
      if (silent.length > 0) this.#heads.update(network, routes, now)
    }
    for (const [route, { at }] of this.#came) if (at <= before) this.#came.delete(route)
  }

  /** Whether nothing was heard of a route since `before`; the next time counts from now. */
  #isSilent(live: LiveRoute, before: number, now: number): boolean {
    const heard = this.#heard.get(live) ?? { at: now, taken: NOTHING_TAKEN }
    const isSilent = heard.at <= before
    this.#heard.set(live, isSilent ? { at: now, taken: { ...heard.taken, claim: 0 } } : heard)
    return isSilent
  }
}
