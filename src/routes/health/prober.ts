/** Probes every route, every few seconds; and at once where calls say that something is wrong with it. */
import type { Network, Snapshot } from '../../snapshot/types.ts'
import type { LiveRoute } from '../live-route.ts'
import { RouteProbe } from './route-probe.ts'
import type { ProbeEvents } from './route-probe.ts'
import type { RouteReport } from './report.ts'
import { RouteWatch } from './route-watch.ts'
import type { RouteEvents } from './route-watch.ts'
import type { Heads } from '../heads.ts'
import type { Upstreams } from '../upstreams.ts'

/** Milliseconds between two probes of a route. */
const EVERY = 5_000
/** How many probes begin at a time, and how often (milliseconds): 400 a second, so that thousands of routes do not hold up calls. */
const AT_A_TIME = 20
const PACE = 50
/** Milliseconds after which a route that has never answered is taken to be down, while its first probe goes on. */
const FIRST_PATIENCE = 600
/** The same for a route that another process has probed before this one: longer than its first question may take. */
const NEXT_PATIENCE = 5_000
/** Milliseconds between two probes of a route that calls give rise to. */
export const CONFIRM_EVERY = 1_000

/** Milliseconds between two probes of a route, where there are so many in all. */
export function roundOf(routes: number): number {
  return Math.max(EVERY, Math.ceil(routes / AT_A_TIME) * PACE)
}

/** Hears what was found out. */
export interface ProberEvents extends RouteEvents, ProbeEvents {
  /** Something threw while a route was probed: a bug of ours, which costs this probe only. */
  bug(error: unknown, route: string): void
}

/** What a prober begins with. */
export interface ProberOptions {
  /** A monotonic clock in milliseconds. */
  readonly now?: () => number
  /** For how many milliseconds networks were without a route, as the process that probed before this one left them; null without one. */
  readonly before?: ReadonlyMap<string, number> | null
}

/** A route that waits for its probe. */
interface Due {
  readonly network: Network
  readonly live: LiveRoute
}

/** Probes routes as long as the gateway serves. */
export class Prober {
  readonly #upstreams: Upstreams
  readonly #heads: Heads
  readonly #events: ProberEvents
  readonly #probe: RouteProbe
  readonly #watch: RouteWatch
  readonly #now: () => number
  readonly #timer: NodeJS.Timeout
  #reported: ((report: RouteReport) => void) | null = null
  #snapshot: Snapshot
  #queue: Due[] = []
  #pace: NodeJS.Timeout | null = null
  #isClosed = false
  readonly #soon = new Set<NodeJS.Timeout>()
  /** Routes in the queue or being probed: none is asked twice at a time, however many there are. */
  readonly #busy = new Set<LiveRoute>()
  /** Routes that another process has probed before, and this one has not yet: what the others know of them is newer. */
  readonly #inherited: WeakSet<LiveRoute>
  /** When calls last gave rise to a probe. */
  readonly #confirmedAt = new WeakMap<LiveRoute, number>()

  constructor(
    upstreams: Upstreams,
    heads: Heads,
    snapshot: Snapshot,
    events: ProberEvents,
    { now = () => performance.now(), before = null }: ProberOptions = {},
  ) {
    this.#upstreams = upstreams
    this.#heads = heads
    this.#snapshot = snapshot
    this.#events = events
    this.#now = now
    const networks = Object.values(snapshot.networks)
    this.#inherited = new WeakSet(before === null ? [] : networks.flatMap(network => upstreams.of(network)))
    const down = networks.flatMap(({ slug }) => {
      const ms = before?.get(slug)
      return ms === undefined ? [] : [[slug, now() - ms] as const]
    })
    this.#watch = new RouteWatch(events, down)
    this.#probe = new RouteProbe({ upstreams, heads, now, events })
    upstreams.whenUnsure(live => {
      this.#confirm(live)
    })
    this.#timer = setInterval(() => {
      this.#enqueue()
    }, EVERY)
    this.#enqueue()
  }

  /** Calls `listener` with all that is known of a route after each look at it, for processes that do not probe. */
  whenReported(listener: (report: RouteReport) => void): void {
    this.#reported = listener
  }

  /** What is known now of every route that was asked, for a process that has just begun. */
  reports(): RouteReport[] {
    return Object.values(this.#snapshot.networks).flatMap(network =>
      this.#upstreams
        .of(network)
        .flatMap(live => (this.#isKnown(live) ? this.#probe.report(network, live) : [])),
    )
  }

  #isKnown(live: LiveRoute): boolean {
    return this.#probe.knows(live) && !this.#inherited.has(live)
  }

  /** Calls in another process speak against a route, by its id: asks it, at most once a second, whether that holds for everybody. */
  confirm(id: string): void {
    const live = this.#upstreams.get(id)
    if (live !== undefined && !this.#isClosed) this.#confirm(live)
  }

  /** Probes the routes of another snapshot from now on, new ones at once. */
  watch(snapshot: Snapshot): void {
    this.#snapshot = snapshot
    const slugs = new Set(Object.keys(snapshot.networks))
    this.#heads.retain(slugs)
    this.#watch.retain(slugs)
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
        else if (!this.#probe.knows(live) && !this.#busy.has(live)) fresh.push({ network, live })
    for (const live of waiting) this.#busy.delete(live)
    this.#queue = [...fresh, ...others]
    for (const { live } of this.#queue) this.#busy.add(live)
    if (this.#pace === null) this.#begin()
  }

  close(): void {
    this.#isClosed = true
    clearInterval(this.#timer)
    if (this.#pace !== null) clearTimeout(this.#pace)
    for (const timer of this.#soon) clearTimeout(timer)
    this.#queue = []
  }

  #enqueue(): void {
    for (const network of Object.values(this.#snapshot.networks))
      for (const live of this.#upstreams.of(network))
        if (!this.#busy.has(live)) {
          this.#busy.add(live)
          this.#queue.push({ network, live })
        }
    if (this.#pace === null) this.#begin()
  }

  #begin(): void {
    this.#pace = null
    for (const { network, live } of this.#queue.splice(0, AT_A_TIME)) {
      if (!this.#probe.knows(live)) this.#lookSoon(network, live)
      void this.#run(network, live, () => this.#probe.probe(network, live))
    }
    if (this.#queue.length === 0) return
    this.#pace = setTimeout(() => {
      this.#begin()
    }, PACE)
  }

  /** A node that takes its time over the first question is told without waiting for the end of it. */
  #lookSoon(network: Network, live: LiveRoute): void {
    const patience = this.#inherited.has(live) ? NEXT_PATIENCE : FIRST_PATIENCE
    const timer = setTimeout(() => {
      this.#soon.delete(timer)
      const isServed = this.#snapshot.networks[network.slug] === network
      if (isServed && this.#busy.has(live) && !live.identified) this.#look(network, live)
    }, patience)
    this.#soon.add(timer)
  }

  /** Calls of one caller speak against a route: asks it whether that holds for everybody. */
  #confirm(live: LiveRoute): void {
    const network = this.#snapshot.networks[live.network]
    const last = this.#confirmedAt.get(live) ?? -Infinity
    if (network === undefined || this.#busy.has(live) || this.#now() - last < CONFIRM_EVERY) return
    this.#confirmedAt.set(live, this.#now())
    this.#busy.add(live)
    void this.#run(network, live, () => this.#probe.confirm(network, live))
  }

  /** One odd reply ends nothing: whatever throws costs this probe only. */
  async #run(network: Network, live: LiveRoute, probe: () => Promise<void>): Promise<void> {
    try {
      await probe()
    } catch (error) {
      this.#events.bug(error, live.id)
    }
    this.#busy.delete(live)
    this.#look(network, live)
  }

  /** Takes in what is known of a route now. */
  #look(network: Network, live: LiveRoute): void {
    // Probes that a stop has cut short say nothing about a route.
    if (this.#isClosed) return
    this.#inherited.delete(live)
    const routes = this.#upstreams.of(network)
    this.#heads.update(network, routes, this.#now())
    this.#heads.finality.update(network, routes, this.#now())
    this.#watch.check(network, live, routes, this.#now())
    // A route of an earlier snapshot may go by an id that means another one now.
    if (this.#reported !== null && routes.includes(live)) this.#reported(this.#probe.report(network, live))
  }
}
