/** Replies without an end (event streams): who holds how many, and what ends open ones. */
import type { Gateway } from '../../call/gateway.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Caller, Visitor } from '../../call/caller.ts'
import { holderOf } from '../../call/caller.ts'
import { Slots } from '../../limits/holdings.ts'

/** How often changes of keys, plans and configuration are acted on, in milliseconds. */
const SWEEP_EVERY = 250
/** Streams ended at a time when draining, and milliseconds between. */
const DRAIN_BATCH = 50
const DRAIN_PAUSE = 100
/** Milliseconds over which a drain ends streams at most, whatever their number. */
const DRAIN_TIME = 20_000

/** One open stream. */
export interface ClientStream {
  readonly visitor: Visitor
  readonly caller: Caller
  /** Verb and path, as rules name it. */
  readonly method: string
  readonly route: string
  /** Ends it so that the client sees an end. */
  stop(): void
}

/** Counts, sweeps and drains. */
export class ClientStreams {
  readonly #gateway: Gateway
  /** Shared with sockets: both are connections that stay. */
  readonly #slots: Slots
  readonly #streams = new Map<ClientStream, unknown>()
  /** By network. */
  readonly #counts = new Slots()
  readonly #timer: NodeJS.Timeout
  #epoch: number
  #draining = false

  constructor(gateway: Gateway, slots: Slots) {
    this.#gateway = gateway
    this.#slots = slots
    this.#epoch = gateway.epoch
    this.#timer = setInterval(() => {
      this.#sweep()
    }, SWEEP_EVERY)
    this.#timer.unref()
  }

  /** Takes a place of the caller's; gives it back through the returned function, or refuses. */
  take(stream: ClientStream): (() => void) | Refusal {
    const limit = stream.caller.plan.ws.connections
    const holder = holderOf(stream.caller)
    if (this.#draining) return refuse('no_route', 'The gateway is shutting down')
    if (!this.#slots.take(holder, limit)) return refuse('too_many_connections', undefined, { limit })
    // What serves it is remembered: a route that was edited is another one under the same name.
    this.#streams.set(stream, this.#gateway.live.upstreams.get(stream.route))
    const { slug } = stream.caller.network
    this.#counts.take(slug, Infinity)
    return () => {
      if (!this.#streams.delete(stream)) return
      this.#slots.free(holder)
      this.#counts.free(slug)
    }
  }

  /** Open streams of a network. */
  count(network: string): number {
    return this.#counts.held(network)
  }

  /** Ends all, not all in one moment, and resolves when the last one was told. */
  async drain(): Promise<void> {
    this.#draining = true
    clearInterval(this.#timer)
    const batch = Math.max(DRAIN_BATCH, Math.ceil((this.#streams.size * DRAIN_PAUSE) / DRAIN_TIME))
    let told = 0
    for (const stream of [...this.#streams.keys()]) {
      stream.stop()
      told += 1
      if (told % batch === 0) await new Promise(resolve => setTimeout(resolve, DRAIN_PAUSE))
    }
  }

  #sweep(): void {
    const { epoch, live } = this.#gateway
    if (epoch === this.#epoch) return
    this.#epoch = epoch
    for (const [stream, route] of this.#streams) {
      const isSameRoute = live.upstreams.get(stream.route) === route
      if (!isSameRoute || !this.#gateway.wouldServe(stream.visitor, stream.method, stream.route))
        stream.stop()
    }
  }
}
