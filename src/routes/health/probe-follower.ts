/** Follows the probes of another process, where routes are probed once a machine. */
import type { Clock } from '../../ports/clock.ts'
import type { Network, Snapshot } from '../../snapshot/types.ts'
import type { Heads } from '../heads.ts'
import type { LiveRoute } from '../live-route.ts'
import type { Upstreams } from '../upstreams.ts'
import { CONFIRM_EVERY } from './prober.ts'
import type { RouteReport } from './report.ts'
import { RouteWatch } from './route-watch.ts'
import type { KnownDown } from './route-watch.ts'
import { forgetHeight, takeReport } from './take-in.ts'
import type { Taken } from './take-in.ts'

/** Milliseconds without a report after which nobody knows how far a route has come, and how often that is checked. */
const SILENT = 15_000
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

/** A report that came before the route which it is about. */
interface Early {
  readonly report: RouteReport
  readonly at: number
}

const NOTHING: Taken = { outcome: 0, claim: 0 }

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
  /** By route: a reload reaches the processes of a machine at different moments. */
  readonly #early = new Map<string, Early>()
  readonly #suspectedAt = new WeakMap<LiveRoute, number>()
  #snapshot: Snapshot
  #stop: () => void
  #isClosed = false

  constructor(upstreams: Upstreams, heads: Heads, snapshot: Snapshot, options: FollowerOptions) {
    this.#upstreams = upstreams
    this.#heads = heads
    this.#snapshot = snapshot
    this.#options = options
    upstreams.whenSuspect(live => {
      this.#suspect(live)
    })
    this.#stop = this.#checkSoon()
  }

  /** Takes in all that is known of a route. Only the newest report of a route counts, and it may come more than once. */
  take(report: RouteReport): void {
    if (this.#isClosed) return
    const now = this.#options.clock.monotonic()
    if (this.#takeIn(report, now)) this.#early.delete(report.route)
    else this.#early.set(report.route, { report, at: now })
  }

  /** Follows the routes of another snapshot from now on. */
  watch(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    const slugs = new Set(Object.keys(snapshot.networks))
    this.#heads.retain(slugs)
    this.#watch.retain(slugs)
    for (const [route, { report, at }] of this.#early) if (this.#takeIn(report, at)) this.#early.delete(route)
  }

  close(): void {
    this.#isClosed = true
    this.#stop()
  }

  /** False when this process does not serve that route, as it was defined. */
  #takeIn(report: RouteReport, at: number): boolean {
    const network = this.#snapshot.networks[report.network]
    const live = this.#upstreams.get(report.route)
    if (network === undefined || live === undefined) return false
    if (this.#upstreams.definition(live.id) !== report.definition) return false
    const parts = { heads: this.#heads, routes: this.#upstreams.of(network) }
    const taken = takeReport(network, live, report, parts, this.#heard.get(live)?.taken ?? NOTHING, at)
    this.#heard.set(live, { at, taken })
    this.#look(network, live, report)
    return true
  }

  #look(network: Network, live: LiveRoute, known?: KnownDown): void {
    const now = this.#options.clock.monotonic()
    const routes = this.#upstreams.of(network)
    this.#heads.update(network, routes, now)
    this.#watch.check(network, live, routes, now, known)
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
    for (const network of Object.values(this.#snapshot.networks))
      for (const live of this.#upstreams.of(network)) {
        const heard = this.#heard.get(live) ?? { at: now, taken: NOTHING }
        const isSilent = now - heard.at >= SILENT
        this.#heard.set(live, isSilent ? { at: now, taken: { ...heard.taken, claim: 0 } } : heard)
        if (!isSilent) continue
        forgetHeight(live, this.#heads)
        if (live.identified || live.fault !== null) this.#look(network, live)
      }
    for (const [route, { at }] of this.#early) if (now - at >= SILENT) this.#early.delete(route)
  }
}
