/** One upstream subscription shared by any number of clients; it outlives the socket that carries it. */
import type { Reply } from '../../jsonrpc/message.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import { Backlog } from '../socket/backlog.ts'
import type { ByteBudget } from '../socket/backlog.ts'
import { findCarrier } from './carrier.ts'
import type { Carrier, Sought } from './carrier.ts'
import { GapBroken, GapTooWide } from '../../families/gap.ts'
import type { Ask, GapFiller } from '../../families/gap.ts'
import type { Attempts, Listener } from '../../ports/subscriptions.ts'
import { retry } from './retry.ts'
import type { UpstreamSocket } from '../socket/upstream-socket.ts'

/** What is subscribed to, and how. */
export interface SharedOptions extends Omit<Sought, 'names' | 'own' | 'blamed' | 'isKnown' | 'setApart'> {
  /** Who subscribed first: an account, or on the public route an address. */
  readonly holder: string
  /** Names of callers and subscriptions that go over sockets of their own. */
  readonly apart: { has(name: string): boolean; set(name: string, is: true): unknown }
  readonly filler: GapFiller
  readonly budget: ByteBudget | null
  /** The block or slot that a message shows; null where it shows none. */
  readonly heightIn: (result: Raw) => number | null
  /** Called once, when nothing will come any more. */
  readonly onOver: () => void
  /** Something threw that should not have. */
  readonly onBug: (error: unknown) => void
}

type Begun = 'begun' | (Reply & { kind: 'error' }) | Refusal

/** A listener, and who it is: an account, or on the public route an address. */
export interface HeldListener extends Listener {
  readonly holder: string
}

/** Callers of one subscription up to which they are blamed for a socket that it cuts. */
const FEW_CALLERS = 8
/** Tries of a recovery from which on all subscribe calls in flight are blamed. */
const ALL_BLAMED = 3
let made = 0

/** What carries it now. */
interface Watched extends Carrier {
  /** No longer wants to know of the end of the socket. */
  readonly unwatch: () => void
}

/** Goes from starting to live, between live and recovering, and ends. */
export class SharedSubscription {
  readonly listeners = new Set<HeldListener>()
  readonly begun: Promise<Begun>
  readonly #options: SharedOptions
  #carrier: Watched | null = null
  /** Id of the route that carries it, or was the last one to. */
  #route = ''
  /** Messages wait here while it begins or a gap is filled; null while they pass straight through. */
  #held: Backlog<Raw> | null
  /** Routes that could not fill the gap of this recovery. */
  readonly #unable = new Set<string>()
  /** Set while it begins or recovers: a socket that closes then starts no second recovery. */
  #busy = true
  #isRecovering = false
  /** Tries of this recovery. */
  #tries = 0
  readonly #id = `subscription ${(made += 1)}`
  #over = false

  /** `trace` records the tries to open it, and none of a recovery: the call is over then. */
  constructor(options: SharedOptions, trace?: Attempts) {
    this.#options = options
    this.#held = new Backlog(options.budget)
    this.begun = this.#begin(trace)
  }

  get isOver(): boolean {
    return this.#over
  }

  /** Whether it has lost what carried it, and goes on for those only who have listened to it. */
  get isRecovering(): boolean {
    return this.#isRecovering
  }

  /** Ends it; resolves when nothing of it is left at the node. */
  async stop(): Promise<void> {
    this.#finish()
    await this.#detach()
  }

  async #begin(trace?: Attempts): Promise<Begun> {
    try {
      const outcome = await this.#attach(trace)
      if (outcome !== 'begun') {
        this.#finish()
        return outcome
      }
      const socket = this.#carrier?.socket
      await this.#options.filler.started(this.#ask)
      if (this.#carrier === null) this.#startRecovery(socket)
      else this.#release()
      return 'begun'
    } catch (error) {
      this.#options.onBug(error)
      this.#finish()
      void this.#detach()
      return refuse('internal')
    }
  }

  async #attach(trace?: Attempts): Promise<Begun> {
    const { apart } = this.#options
    const found = await findCarrier(
      {
        ...this.#options,
        names: this.#names(),
        own: () => this.#own(),
        isKnown: this.#isRecovering,
        blamed: this.#isRecovering && this.#tries < ALL_BLAMED ? 'oldest' : 'any',
        setApart: name => apart.set(name, true),
      },
      result => {
        this.#hear(result)
      },
      this.#unable,
      () => this.#over,
      trace,
    )
    if (!('socket' in found)) return found
    this.#carry(found)
    return 'begun'
  }

  /** Its caller; of a recovery itself and its callers, unless they are many: whoever listens to newHeads is not the reason. */
  #names(): readonly [string, ...string[]] {
    if (!this.#isRecovering) return [this.#options.holder]
    const callers = this.#callers()
    return callers.size > FEW_CALLERS ? [this.#id] : [this.#id, ...callers]
  }

  #own(): string | null {
    const { apart } = this.#options
    const callers = this.#isRecovering ? this.#callers() : new Set([this.#options.holder])
    const [first] = callers
    // Those of one caller cut one socket.
    const isOfThem = callers.size <= FEW_CALLERS && [...callers].every(caller => apart.has(caller))
    if (first !== undefined && isOfThem) return first
    return apart.has(this.#id) ? this.#id : null
  }

  #callers(): Set<string> {
    const callers = new Set<string>()
    for (const { holder } of this.listeners) if (callers.add(holder).size > FEW_CALLERS) break
    return callers
  }

  #carry(carrier: Carrier): void {
    const { socket, listener } = carrier
    const unwatch = socket.whenClosed(() => {
      if (this.#carrier?.listener !== listener) return
      this.#carrier = null
      if (!this.#busy) this.#startRecovery(socket)
    })
    // A socket that is gone by now has said so already, to nobody.
    this.#route = socket.routeId
    this.#carrier = socket.isOpen ? { ...carrier, unwatch } : null
    if (this.#over) void this.#detach()
  }

  /** Leaves what carries it; `endedBy` the upstream when it needs no telling. */
  async #detach(endedBy: 'us' | 'the upstream' = 'us'): Promise<void> {
    const { sockets, unsubscribe } = this.#options
    const carrier = this.#carrier
    this.#carrier = null
    if (carrier === null) return
    carrier.unwatch()
    if (carrier.showsHeads) carrier.socket.progress.leave()
    await carrier.socket.leave(carrier.id, carrier.listener, endedBy === 'us' ? unsubscribe : null)
    sockets.release(carrier.socket)
  }

  readonly #ask: Ask = (method, params) => this.#carrier?.socket.ask(method, params) ?? Promise.resolve(null)

  #startRecovery(lost: UpstreamSocket | undefined): void {
    const head = lost?.progress.reached() ?? null
    this.#recover(head).catch((error: unknown) => {
      this.#options.onBug(error)
      this.#lose('internal error')
    })
  }

  /** Finds another route, fills the gap from `head` on, and goes on; or tells the clients that it cannot. */
  async #recover(head: number | null): Promise<void> {
    this.#busy = true
    this.#isRecovering = true
    if (!(await retry(() => this.#tryAgain(head)))) this.#lose('no route has come back')
  }

  /** Whether it is live again, or over. */
  async #tryAgain(head: number | null): Promise<boolean> {
    // What nobody listens to is only kept for who may come back: it is not worth a request.
    if (this.listeners.size === 0) void this.stop()
    if (this.#over) return true
    this.#tries += 1
    this.#held?.drain()
    this.#held = new Backlog(this.#options.budget)
    try {
      if ((await this.#attach()) !== 'begun') return this.#over
      for await (const result of this.#options.filler.fill(this.#ask, head)) this.#tell(result)
    } catch (error) {
      if (error instanceof GapTooWide) this.#lose(error.message)
      else if (error instanceof GapBroken) this.#avoid(this.#route)
      else this.#options.onBug(error)
      await this.#detach()
      return this.#over
    }
    if (this.#carrier === null) return this.#over
    this.#release()
    return true
  }

  /** A route could not fill the gap: the others come first, until all of them have failed. */
  #avoid(route: string): void {
    this.#unable.add(route)
    if (this.#options.routes().every(({ id }) => this.#unable.has(id))) this.#unable.clear()
  }

  #hear(result: Raw): void {
    if (this.#over) return
    if (this.#held === null) this.#pass(result)
    else if (!this.#held.push(result, result.length))
      this.#lose('messages came faster than what was missed could be read')
  }

  /** It is live: lets pass what was held back while the gap was filled. */
  #release(): void {
    const held = this.#held?.drain() ?? []
    this.#held = null
    this.#busy = false
    this.#isRecovering = false
    this.#tries = 0
    this.#unable.clear()
    for (const result of held) this.#pass(result)
  }

  #pass(result: Raw): void {
    if (this.#options.filler.take(result)) this.#tell(result)
  }

  #tell(result: Raw): void {
    if (this.#over) return
    const route = this.#carrier?.socket.routeId ?? null
    const { filler, heightIn } = this.#options
    const last = filler.isLast(result)
    const message = { result, height: heightIn(result), route, last }
    if (last) {
      this.#finish()
      void this.#detach('the upstream')
    }
    for (const listener of this.listeners)
      try {
        listener.message(message)
      } catch (error) {
        this.#options.onBug(error)
        this.listeners.delete(listener)
        listener.lost('internal error')
      }
  }

  #lose(why: string): void {
    if (this.#over) return
    this.#finish()
    void this.#detach()
    for (const listener of this.listeners) listener.lost(why)
  }

  #finish(): void {
    if (this.#over) return
    this.#over = true
    this.#held?.drain()
    this.#options.onOver()
  }
}
