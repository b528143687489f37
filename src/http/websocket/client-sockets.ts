/** All client sockets: who holds how many, and what has to happen to open ones. */
import type { Gateway } from '../../call/gateway.ts'
import { holderOf } from '../../call/caller.ts'
import { Slots } from '../../limits/holdings.ts'
import type { ClientSocket } from './client-socket.ts'

/** How often changes of keys, plans and configuration are acted on, in milliseconds. */
const SWEEP_EVERY = 250
/** Sockets closed at a time when draining, and milliseconds between. */
const DRAIN_BATCH = 50
const DRAIN_PAUSE = 100
/** Milliseconds over which a drain closes sockets at most, whatever their number. */
const DRAIN_TIME = 20_000

/** Counts, sweeps and drains. */
export class ClientSockets {
  readonly slots = new Slots()
  readonly #gateway: Gateway
  readonly #sockets = new Set<ClientSocket>()
  /** By network. */
  readonly #counts = new Slots()
  readonly #timer: NodeJS.Timeout
  #epoch: number
  #tickAt = 0
  #draining = false

  constructor(gateway: Gateway) {
    this.#gateway = gateway
    this.#epoch = gateway.epoch
    this.#timer = setInterval(() => {
      this.#sweep(Date.now())
    }, SWEEP_EVERY)
    this.#timer.unref()
  }

  /** Whether no socket is opened any more: it would have to be closed at once. */
  get isDraining(): boolean {
    return this.#draining
  }

  add(socket: ClientSocket): void {
    this.#sockets.add(socket)
    this.#counts.take(socket.network, Infinity)
  }

  remove(socket: ClientSocket): void {
    if (this.#sockets.delete(socket)) this.#counts.free(socket.network)
  }

  /** Open sockets of a network. */
  count(network: string): number {
    return this.#counts.held(network)
  }

  /** Subscriptions that the clients of a network hold. */
  subscriptions(network: string): number {
    return this.#gateway.live.clientSubscriptions.held(network)
  }

  /** Closes all with 1001, not all in one moment but over `time` milliseconds at most, and resolves when the last one has been told. */
  async drain(time = DRAIN_TIME): Promise<void> {
    this.#draining = true
    clearInterval(this.#timer)
    const batch = Math.max(DRAIN_BATCH, Math.ceil((this.#sockets.size * DRAIN_PAUSE) / time))
    let told = 0
    for (const socket of [...this.#sockets]) {
      socket.finish()
      told += 1
      if (told % batch === 0) await new Promise(resolve => setTimeout(resolve, DRAIN_PAUSE))
    }
  }

  /** Closes what a drain has not seen the end of. */
  cut(): void {
    for (const socket of this.#sockets) socket.close(1001, 'the gateway is going away')
  }

  #sweep(now: number): void {
    const { epoch } = this.#gateway
    if (epoch !== this.#epoch) {
      this.#epoch = epoch
      for (const socket of this.#sockets) socket.recheck()
      this.#closeSurplus()
    }
    if (now < this.#tickAt) return
    this.#tickAt = now + 1000
    for (const socket of this.#sockets) socket.tick(now)
  }

  /** After a downgrade the newest connections above the plan's limit go. */
  #closeSurplus(): void {
    const held = new Map<string, number>()
    for (const socket of this.#sockets) {
      if (socket.caller === null) continue
      const holder = holderOf(socket.caller)
      const count = (held.get(holder) ?? 0) + 1
      held.set(holder, count)
      if (count > socket.caller.plan.ws.connections) socket.close(1008, 'too_many_connections')
    }
  }
}
