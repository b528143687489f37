/** One upstream subscription shared by any number of clients; it outlives the socket that carries it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Raw } from '../../jsonrpc/raw.ts'
import { refuse } from '../../jsonrpc/refusal.ts'
import type { Refusal } from '../../jsonrpc/refusal.ts'
import type { Reply } from '../../jsonrpc/reply.ts'
import type { Family, Route } from '../../snapshot/types.ts'
import { classify } from '../node-errors/classify.ts'
import { GapTooWide } from './gap.ts'
import type { GapFiller } from './gap.ts'
import type { UpstreamSocket } from './upstream-socket.ts'
import type { UpstreamSockets } from './upstream-sockets.ts'

/** Milliseconds between two tries to resubscribe, doubled from the first to the last. */
const FIRST_PAUSE = 100
const LAST_PAUSE = 5_000
/** Milliseconds without a route after which the clients are told to start again. */
const PATIENCE = 30_000

/** What clients of a shared subscription hear. */
export interface Listener {
  /** A message of the subscription. `last` is set when the subscription is over with it. */
  message(result: Raw, last: boolean, route: string | null): void
  /** The subscription cannot go on: the client has to start again. */
  lost(why: string): void
}

/** What is subscribed to, and how. */
export interface SharedOptions {
  readonly method: string
  readonly params: Raw
  readonly family: Family
  readonly unsubscribe: string
  readonly filler: GapFiller
  readonly sockets: UpstreamSockets
  /** The routes to try now, best first. */
  readonly routes: () => readonly Route[]
  /** Last known block of a route. */
  readonly headOf: (routeId: string) => number | null
  /** Called once, when nothing will come any more. */
  readonly onOver: () => void
}

type Begun = 'begun' | (Reply & { kind: 'error' }) | Refusal

/** Goes from starting to live, between live and recovering, and ends. */
export class SharedSubscription {
  readonly listeners = new Set<Listener>()
  readonly begun: Promise<Begun>
  readonly #options: SharedOptions
  #socket: UpstreamSocket | null = null
  #upstreamId: Raw | null = null
  /** Messages wait here while a gap is filled; null while they pass straight through. */
  #held: Raw[] | null = []
  /** Messages that came in the same moment as the reply to the subscribe. */
  #early: Raw[] = []
  /** Set while it begins or recovers: a socket that closes then starts no second recovery. */
  #busy = true
  #over = false

  constructor(options: SharedOptions) {
    this.#options = options
    this.begun = this.#begin()
  }

  /** Route that carries it now; null while none does. */
  get routeId(): string | null {
    return this.#socket?.routeId ?? null
  }

  /** Ends it upstream. */
  stop(): void {
    if (this.#over) return
    this.#finish()
    this.#detach()
  }

  async #begin(): Promise<Begun> {
    const outcome = await this.#attach()
    if (outcome !== 'begun') {
      this.#finish()
      return outcome
    }
    const route = this.routeId
    await this.#options.filler.started((method, params) => this.#ask(method, params))
    if (this.#socket === null && route !== null) void this.#recover(route)
    else this.#release()
    return 'begun'
  }

  /** Subscribes on the first route that takes it. A node's error about the call itself is final. */
  async #attach(): Promise<Begun> {
    const { method, params, family, sockets, routes } = this.#options
    let last: Exclude<Begun, 'begun'> = refuse('no_route')
    for (const route of routes()) {
      if (this.#over) break
      const socket = await sockets.get(route).catch(() => null)
      if (socket === null) continue
      const reply = await socket.subscribe(method, params, ({ result }) => {
        if (this.#socket === socket) this.#hear(result)
        else this.#early.push(result)
      })
      if (reply === null || 'kind' in reply) {
        sockets.release(socket)
        // What another route may not have is no last word.
        if (
          reply?.kind === 'error' &&
          classify(reply, { family, method, params, isRange: false, rows: route.errors }) === 'answer'
        )
          return reply
        last = reply?.kind === 'error' ? reply : refuse('upstream_error')
        continue
      }
      this.#carry(socket, reply.id)
      return 'begun'
    }
    return last
  }

  #carry(socket: UpstreamSocket, id: Raw): void {
    this.#socket = socket
    this.#upstreamId = id
    for (const result of this.#early.splice(0)) this.#hear(result)
    if (this.#over) this.#detach()
    else
      socket.whenClosed(() => {
        if (this.#socket !== socket) return
        this.#socket = null
        if (!this.#busy) void this.#recover(socket.routeId)
      })
  }

  #detach(by: 'ended by us' | 'ended by the upstream' = 'ended by us'): void {
    const { sockets, unsubscribe } = this.#options
    const socket = this.#socket
    this.#socket = null
    if (socket === null || this.#upstreamId === null) return
    socket.forget(this.#upstreamId)
    const release = (): void => {
      sockets.release(socket)
    }
    if (by === 'ended by us') void socket.ask(unsubscribe, `[${this.#upstreamId}]`).then(release)
    else release()
  }

  #ask(method: string, params: Raw): Promise<Reply | null> {
    return this.#socket?.ask(method, params) ?? Promise.resolve(null)
  }

  /** Finds another route, fills the gap, and goes on; or tells the clients that it cannot. */
  async #recover(lostRoute: string): Promise<void> {
    const head = this.#options.headOf(lostRoute)
    const deadline = performance.now() + PATIENCE
    this.#busy = true
    this.#held = []
    for (let wait = FIRST_PAUSE; !this.#over; wait = Math.min(wait * 2, LAST_PAUSE)) {
      if (await this.#tryAgain(head)) return
      const left = deadline - performance.now()
      if (left <= 0) {
        this.#lose('no route has come back')
        return
      }
      // Jitter, so that many subscriptions do not come back in one moment.
      await pause(Math.min(left, wait * (0.5 + Math.random())), undefined, { ref: false })
    }
  }

  async #tryAgain(head: number | null): Promise<boolean> {
    if ((await this.#attach()) !== 'begun') return false
    try {
      const ask = (method: string, params: Raw): Promise<Reply | null> => this.#ask(method, params)
      for await (const result of this.#options.filler.fill(ask, head)) this.#tell(result)
    } catch (error) {
      if (error instanceof GapTooWide) this.#lose(error.message)
      else this.#detach()
      return this.#over
    }
    if (this.#socket === null) return this.#over
    this.#release()
    return true
  }

  #hear(result: Raw): void {
    if (this.#held !== null) this.#held.push(result)
    else if (this.#options.filler.take(result)) this.#tell(result)
  }

  /** It is live: lets pass what was held back while the gap was filled. */
  #release(): void {
    const held = this.#held ?? []
    this.#held = null
    this.#busy = false
    for (const result of held) this.#hear(result)
  }

  #tell(result: Raw): void {
    if (this.#over) return
    const route = this.#socket?.routeId ?? null
    const last = this.#options.filler.isLast(result)
    if (last) {
      this.#finish()
      this.#detach('ended by the upstream')
    }
    for (const listener of [...this.listeners]) listener.message(result, last, route)
  }

  #lose(why: string): void {
    this.#finish()
    this.#detach()
    for (const listener of [...this.listeners]) listener.lost(why)
  }

  #finish(): void {
    this.#over = true
    this.#options.onOver()
  }
}
