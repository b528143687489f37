/** Replies without an end (event streams): who holds how many, and what ends open ones. */
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Caller, Visitor } from '../../call/caller.ts'
import { Slots } from '../../limits/holdings.ts'
import type { Holdings } from '../../ports/holdings.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { takePlace } from '../place.ts'
import type { Place } from '../place.ts'

/** How often changes of keys, plans and configuration are acted on, in milliseconds. */
const SWEEP_EVERY = 250
/** Streams ended at a time when draining, and milliseconds between. */
const DRAIN_BATCH = 50
const DRAIN_PAUSE = 100
/** Milliseconds over which a drain ends streams at most, whatever their number. */
const DRAIN_TIME = 20_000
const GOING_AWAY = 'The gateway is shutting down'

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
  readonly #holdings: Holdings
  readonly #streams = new Map<ClientStream, unknown>()
  /** By network. */
  readonly #counts = new Slots()
  readonly #timer: NodeJS.Timeout
  #epoch: number
  #draining = false
  /** Whether a drain refuses streams, as nobody else is there to take them. */
  #isLast = false

  constructor(gateway: Gateway, holdings: Holdings) {
    this.#gateway = gateway
    this.#holdings = holdings
    this.#epoch = gateway.epoch
    this.#timer = setInterval(() => {
      this.#sweep()
    }, SWEEP_EVERY)
    this.#timer.unref()
  }

  /** Takes a place of the caller's; gives it back through the returned function, or refuses. */
  take(stream: ClientStream): MaybePromise<(() => void) | Refusal> {
    if (this.#isShut) return refuse('no_route', GOING_AWAY)
    const taking = takePlace(this.#holdings, stream.caller)
    if (!(taking instanceof Promise)) return isRefusal(taking) ? taking : this.#add(stream, taking)
    const { epoch } = this.#gateway
    return taking.then(place => {
      if (isRefusal(place)) return place
      // What has changed meanwhile is acted on.
      if (this.#gateway.epoch !== epoch) this.#epoch = -1
      if (!this.#isShut) return this.#add(stream, place)
      place.free()
      return refuse('no_route', GOING_AWAY)
    })
  }

  /** Open streams of a network. */
  count(network: string): number {
    return this.#counts.held(network)
  }

  /**
   * Ends all, in batches, and resolves after the last one. A stream that is opened meanwhile is refused at a stop (`isLast`); while other workers serve
   * it is opened and ended at once: a browser gives up after a refusal, and reconnects after an end.
   */
  async drain(isLast = true): Promise<void> {
    this.#draining = true
    this.#isLast = isLast
    clearInterval(this.#timer)
    const batch = Math.max(DRAIN_BATCH, Math.ceil((this.#streams.size * DRAIN_PAUSE) / DRAIN_TIME))
    let ended = 0
    for (const stream of [...this.#streams.keys()]) {
      stream.stop()
      ended += 1
      if (ended % batch === 0) await new Promise(resolve => setTimeout(resolve, DRAIN_PAUSE))
    }
  }

  get #isShut(): boolean {
    return this.#draining && this.#isLast
  }

  #add(stream: ClientStream, place: Place): () => void {
    // What serves it is remembered: a route that was edited is another one under the same name.
    this.#streams.set(stream, this.#gateway.live.upstreams.get(stream.route))
    const { slug } = stream.caller.network
    this.#counts.take(slug, Infinity)
    if (this.#draining)
      setImmediate(() => {
        stream.stop()
      })
    return () => {
      if (!this.#streams.delete(stream)) return
      place.free()
      this.#counts.free(slug)
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
