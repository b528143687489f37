/** Replies without an end (event streams): who holds how many, and what ends open ones. */
import type { Gateway } from '../../call/gateway.ts'
import { isRefusal, refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Caller, Visitor } from '../../call/caller.ts'
import { Slots } from '../../limits/slots.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import type { Place, Places, StayingConnection } from '../place.ts'

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
  /** The gateway's epoch when the caller was admitted. */
  readonly epoch: number
  /** Verb and path, as rules name it. */
  readonly method: string
  readonly route: string
  /** Ends it so that the client sees an end. */
  stop(): void
}

/** An open stream and its caller as of the last sweep. */
class OpenStream implements StayingConnection {
  readonly route: unknown
  swept: Caller | null
  readonly #stream: ClientStream
  readonly #sweep: () => void

  constructor(stream: ClientStream, route: unknown, sweep: () => void) {
    this.#stream = stream
    this.#sweep = sweep
    this.route = route
    this.swept = stream.caller
  }

  get caller(): Caller | null {
    this.#sweep()
    return this.swept
  }

  closeSurplus(): void {
    this.#stream.stop()
  }
}

/** Counts, sweeps and drains. */
export class ClientStreams {
  readonly #gateway: Gateway
  /** Shared with sockets: both are connections that stay. */
  readonly #places: Places
  readonly #streams = new Map<ClientStream, OpenStream>()
  /** By network. */
  readonly #counts = new Slots()
  readonly #timer: NodeJS.Timeout
  #epoch: number
  #draining = false
  /** Whether a drain refuses streams, as nobody else is there to take them. */
  #isLast = false

  constructor(gateway: Gateway, places: Places) {
    this.#gateway = gateway
    this.#places = places
    this.#epoch = gateway.epoch
    this.#timer = setInterval(() => {
      this.#sweep()
    }, SWEEP_EVERY)
    this.#timer.unref()
  }

  /** Takes a place of the caller's; gives it back through the returned function, or refuses. */
  take(stream: ClientStream): MaybePromise<(() => void) | Refusal> {
    if (this.#isShut) return refuse('no_route', GOING_AWAY)
    const caller = this.#renewed(stream)
    if (isRefusal(caller)) return caller
    const taking = this.#places.take(caller)
    if (!(taking instanceof Promise)) return isRefusal(taking) ? taking : this.#add(stream, taking)
    return taking.then(place => {
      if (isRefusal(place)) return place
      if (this.#gateway.epoch !== stream.epoch) this.#epoch = -1
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

  /** The head of the reply may come long after the request: who the caller is by now. What changes later is left to the next sweep. */
  #renewed({ visitor, caller, epoch, method }: ClientStream): Caller | Refusal {
    if (this.#gateway.epoch === epoch) return caller
    this.#epoch = -1
    return this.#gateway.renewedFor(visitor, method)
  }

  #add(stream: ClientStream, place: Place): () => void {
    const route = this.#gateway.live.upstreams.get(stream.route)
    const open = new OpenStream(stream, route, () => {
      this.#sweep()
    })
    this.#streams.set(stream, open)
    this.#places.opened(place, open)
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
    for (const [stream, open] of this.#streams) {
      // A route that was edited is another one under the same name.
      const isSameRoute = live.upstreams.get(stream.route) === open.route
      open.swept = isSameRoute ? this.#gateway.servedNow(stream.visitor, stream.method, stream.route) : null
      if (open.swept === null) stream.stop()
    }
  }
}
