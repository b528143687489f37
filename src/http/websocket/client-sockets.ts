/** All client sockets: who holds how many, and what has to happen to open ones. */
import type { Gateway } from '../../call/gateway.ts'
import type { Caller } from '../../call/caller.ts'
import { holderOf } from '../../call/caller.ts'
import { Slots } from '../../limits/slots.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { isRefusal, refuse, SHUTTING_DOWN } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { isAbove, partsOf, Places, takeFrom } from '../place.ts'
import type { Place } from '../place.ts'
import type { ClientSocket } from './client-socket.ts'

/** How often changes of keys, plans and configuration are acted on, in milliseconds. */
const SWEEP_EVERY = 250
/** Sockets closed at a time when draining, and milliseconds between. */
const DRAIN_BATCH = 50
const DRAIN_PAUSE = 100
/** Milliseconds over which a drain closes sockets at most, whatever their number. */
const DRAIN_TIME = 20_000

/** Sweeps after a change, or after the keeper was away, in which callers are looked at that hold more than they may on all workers together. */
const SURPLUS_SWEEPS = 8

/** Counts, sweeps and drains. */
export class ClientSockets {
  readonly #places: Places
  readonly #gateway: Gateway
  readonly #sockets = new Map<ClientSocket, Place>()
  /** By network. */
  readonly #counts = new Slots()
  readonly #timer: NodeJS.Timeout
  #epoch: number
  /** Sweeps that are left to close what is above a smaller limit. */
  #surplusSweeps = 0
  #tickAt = 0
  #draining = false
  /** Waits until no socket is open. */
  #waiting: (() => void)[] = []
  /** Whether a drain refuses upgrades, as nobody else is there to take them. */
  #isLast = false

  constructor(gateway: Gateway, places = new Places(new Slots())) {
    this.#gateway = gateway
    this.#places = places
    this.#epoch = gateway.epoch
    this.#timer = setInterval(() => {
      this.#sweep(performance.now())
    }, SWEEP_EVERY)
    this.#timer.unref()
  }

  /** Whether no socket is opened any more. */
  get isShut(): boolean {
    return this.#draining && this.#isLast
  }

  /** Takes one of the caller's connections for a socket that is about to open, or refuses. */
  take(caller: Caller): MaybePromise<Place | Refusal> {
    const taking = this.#places.take(caller)
    if (!(taking instanceof Promise)) return taking
    const { epoch } = this.#gateway
    return taking.then(taken => {
      // What has changed meanwhile is acted on.
      if (this.#gateway.epoch !== epoch) this.#epoch = -1
      if (!this.isShut || isRefusal(taken)) return taken
      taken.free()
      return refuse('no_route', SHUTTING_DOWN)
    })
  }

  add(socket: ClientSocket, place: Place): void {
    this.#sockets.set(socket, place)
    this.#counts.take(socket.network, Infinity)
    this.#places.opened(place, socket)
    // Its client comes back, and finds one that stays.
    if (this.#draining) socket.finish()
  }

  remove(socket: ClientSocket): void {
    if (this.#sockets.delete(socket)) this.#counts.free(socket.network)
    if (this.#sockets.size === 0) for (const resolve of this.#waiting.splice(0)) resolve()
  }

  /** Resolves when no socket is open. */
  async gone(): Promise<void> {
    while (this.#sockets.size > 0) await new Promise<void>(resolve => this.#waiting.push(resolve))
  }

  /** Closes what is above a limit: while nobody could be asked more were let in than all workers together may hold. */
  recount(): void {
    this.#surplusSweeps = SURPLUS_SWEEPS
  }

  /** Open sockets of a network. */
  count(network: string): number {
    return this.#counts.held(network)
  }

  /** Subscriptions that the clients of a network hold. */
  subscriptions(network: string): number {
    return this.#gateway.live.clientSubscriptions.held(network)
  }

  /**
   * Closes all with 1001, not all in one moment but over `spread` milliseconds at most, each as soon as no call is in flight on it, and resolves
   * when the last one has been told. Within half of `patience` they have to come to that: what is sent later is refused, so that what is in
   * flight has the other half to end. Upgrades that still come are refused where nobody else takes them; otherwise they are taken, and
   * closed likewise.
   */
  async drain(spread = DRAIN_TIME, isLast = true, patience = 2 * DRAIN_TIME): Promise<void> {
    this.#draining = true
    this.#isLast = isLast
    void this.gone().then(() => {
      clearInterval(this.#timer)
    })
    const half = patience / 2
    setTimeout(() => {
      for (const { session } of this.#sockets.keys()) session.refusal ??= refuse('no_route', SHUTTING_DOWN)
    }, half).unref()
    // All have been told by then.
    const time = Math.min(spread, half)
    const batch = Math.max(DRAIN_BATCH, Math.ceil((this.#sockets.size * DRAIN_PAUSE) / time))
    let told = 0
    for (const socket of [...this.#sockets.keys()]) {
      socket.finish()
      told += 1
      if (told % batch === 0) await new Promise(resolve => setTimeout(resolve, DRAIN_PAUSE))
    }
  }

  /** Closes what a drain has not seen the end of. */
  cut(): void {
    for (const socket of this.#sockets.keys()) socket.close(1001, 'the gateway is going away')
  }

  #sweep(now: number): void {
    const { epoch } = this.#gateway
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      for (const socket of this.#sockets.keys()) {
        socket.recheck()
        socket.recheckSubscriptions()
      }
      this.recount()
    }
    if (this.#surplusSweeps > 0) void this.#closeSurplus()
    if (now < this.#tickAt) return
    this.#tickAt = now + 1000
    for (const socket of this.#sockets.keys()) socket.tick(now)
  }

  /** After a downgrade, the newest connections and the sockets with the newest subscriptions are closed; each worker closes its part. */
  async #closeSurplus(): Promise<void> {
    this.#surplusSweeps -= 1
    const { subscriptions } = this.#gateway.live
    const isAboveConnections = await this.#places.closeSurplus()
    const parts = await partsOf(
      [...this.#sockets.keys()].filter(({ session }) => session.size > 0),
      ({ caller }) => caller,
      (holder, { plan }) => subscriptions.part(holder, plan.ws.subscriptions),
    )
    for (const socket of [...this.#sockets.keys()]) {
      const { caller, session } = socket
      if (caller === null || session.size === 0 || takeFrom(parts, holderOf(caller), session.size)) continue
      socket.close(1008, 'too_many_subscriptions')
    }
    if (!isAboveConnections && !isAbove(parts)) this.#surplusSweeps = 0
  }
}
