/** The gateway: holds the current snapshot, and takes each message through the pipeline with it. */
import { DIVISIBLE_FROM, FairShare } from '../limits/fair-share.ts'
import { isRefusal, refuse, SHUTTING_DOWN } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { authenticate, holderOf } from './caller.ts'
import type { Visitor, Caller } from './caller.ts'
import type { Context, Live } from './context.ts'
import { decide } from './decide.ts'
import { handleMessage } from './message.ts'
import { refuseMessage } from './refuse-message.ts'
import type { Sink } from './reply/sink.ts'
import type { Keys } from '../ports/keys.ts'
import type { Reason } from '../refusal/table.ts'
import type { MaybePromise } from '../ports/maybe-promise.ts'
import { handleRequest } from './proxied/request.ts'
import type { VerbatimSink } from './proxied/sink.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Opened } from '../routes/open-routes.ts'
import type { RateState } from '../ports/limits.ts'

/** What a swap leaves behind. */
export interface Swapped {
  readonly left: ReturnType<Live['upstreams']['adopt']>
  readonly underWay: Promise<unknown>
}

/** What a method as such is decided by: heads matter to params only. */
const NO_VIEW = { maxDepth: 0, head: null, firstSlot: () => null }

/** Serves messages; transports call it, reloads swap its snapshot. */
export class Gateway {
  readonly live: Live
  readonly #keys: Keys
  #snapshot: Snapshot
  #swaps = 0
  readonly #messages = new InFlight()
  /** What `limits.inFlight` lets each caller have under way. */
  readonly #room = new FairShare(() => this.#snapshot.gateway.limits.inFlight, { from: DIVISIBLE_FROM })

  constructor(snapshot: Snapshot, keys: Keys, live: Live) {
    this.#snapshot = snapshot
    this.#keys = keys
    this.live = live
  }

  /** The snapshot that new messages are served with. */
  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /**
   * Serves new messages with another snapshot, whose routes are `opened`; those under way keep theirs. Routes that are `left` may
   * be retired when what is `underWay` is over.
   */
  swap(snapshot: Snapshot, opened: Opened): Swapped {
    this.#snapshot = snapshot
    this.#swaps += 1
    const left = this.live.upstreams.adopt(opened)
    this.live.prober.watch(snapshot)
    this.live.subscriptions.reconcile(snapshot)
    return { left, underWay: this.#messages.allOver() }
  }

  /** Who a visitor is, before its body is read. */
  admit(visitor: Visitor): Caller | Refusal {
    const caller = this.readmit(visitor)
    if (!isRefusal(caller) || caller.reason !== 'invalid_key') return caller
    return this.live.badKeys.count(visitor.limitAddress, this.live.clock.now()) ?? caller
  }

  /** Counts a request that is refused before a message is read: as its owner's where the key is known. */
  refusedEarly(reason: Reason, asked: { readonly network: string; readonly key: string } | null): void {
    const { observer, journal, clock } = this.live
    const { network = '', key = '' } = asked ?? {}
    const owner = this.#keys.find(key)
    observer.refused(reason, { network, plan: owner?.account.plan ?? (key === 'public' ? key : '') })
    if (owner !== null) journal.refused(owner, 'other', reason, clock.now())
  }

  /** Who a visitor is by now that was let in before: its key may be gone since, which is no guess at keys. */
  readmit(visitor: Visitor): Caller | Refusal {
    return authenticate(visitor, this.#snapshot, this.#keys)
  }

  /** Handles one message of an admitted caller; resolves once its reply has been handed to the sink. */
  handle(body: Buffer, caller: Caller, sink: Sink, requestId: string): MaybePromise<void> {
    const context = this.#contextOf(sink, requestId)
    return this.#follow(() => handleMessage(body, caller, sink, context), caller, sink, context)
  }

  /** Lets one request of an admitted caller through to a verbatim HTTP network. */
  pass(method: string, caller: Caller, sink: VerbatimSink, requestId: string): MaybePromise<void> {
    const context = this.#contextOf(sink, requestId)
    return this.#follow(() => handleRequest(method, caller, sink, context), caller, sink, context)
  }

  /** Whether a call of this visitor would be served now, and could be by this route. */
  wouldServe(visitor: Visitor, method: string, route: string): boolean {
    const network = this.#snapshot.networks[visitor.network.slug]
    const caller = network === undefined ? null : this.readmit({ ...visitor, network })
    if (caller === null || isRefusal(caller)) return false
    const decided = decide({ method, params: null }, caller, NO_VIEW)
    return decided.refusal === null && decided.routes.includes(route)
  }

  #contextOf(sink: Sink, requestId: string): Context {
    const { holder } = sink
    return { snapshot: this.#snapshot, live: this.live, requestId, holder, departure: () => sink.departure }
  }

  /** Handles a message, and counts it as in flight where it is not answered at once. */
  #follow(
    handle: () => MaybePromise<void>,
    caller: Caller,
    sink: Sink,
    context: Context,
  ): MaybePromise<void> {
    try {
      const over = handle()
      if (over instanceof Promise) return this.#track(over, caller, sink, context)
    } catch (error) {
      this.#cut(error, sink, context.requestId)
    }
    sink.done()
  }

  /** Counts a message as in flight until it is over. */
  #track(coming: Promise<void>, caller: Caller, sink: Sink, context: Context): Promise<void> {
    const message = this.#messages.add(() => {
      refuseMessage(refuse('no_route', SHUTTING_DOWN), caller, sink, context)
    })
    const holder = holderOf(caller)
    this.#room.take(1, holder)
    const over = (): void => {
      this.#room.giveBack(1, holder)
      this.#messages.remove(message)
      sink.done()
    }
    return coming.then(over, (error: unknown) => {
      this.#cut(error, sink, context.requestId)
      over()
    })
  }

  /** Whatever throws here is a bug of ours, and no reply was begun that the client could take for whole. */
  #cut(error: unknown, sink: Sink, requestId: string): void {
    this.live.observer.bug(error, requestId)
    sink.cut()
  }

  /** What the rate headers of a reply to this caller say. */
  rate(caller: Caller): RateState | null {
    return this.live.limits.rate(caller, this.live.clock.now())
  }

  /**
   * Grows whenever open sockets have to be looked at again: keys, accounts or the snapshot have changed. The version of the snapshot would not
   * do: an edit that is taken back has it return.
   */
  get epoch(): number {
    return this.#keys.changes + this.#swaps
  }

  /** Whether one message more of this caller may be handled (`limits.inFlight`). */
  hasRoomFor(caller: Caller): boolean {
    return this.#room.fits(1, holderOf(caller))
  }

  /** Messages being handled. */
  get inFlight(): number {
    return this.#messages.size
  }

  /** Answers every message that is being handled with a refusal; what comes of them later is said to nobody. */
  cutShort(): void {
    this.#messages.cutShort()
  }

  /** Resolves when no message is being handled. */
  idle(): Promise<void> {
    return this.#messages.idle()
  }
}

/** One message, and how to end it early. */
export interface Handling {
  /** Where it stands; ours. */
  at: number
  readonly cutShort: () => void
  /** Who waits for its end. */
  waiting: (() => void)[] | null
}

/**
 * The messages being handled. An array whose holes are filled from its end, not a Map: the hash tables that a busy Map leaves
 * behind keep each other alive, and with them every message they held, until the next full collection.
 */
export class InFlight {
  readonly #messages: Handling[] = []
  #idle: (() => void)[] = []

  get size(): number {
    return this.#messages.length
  }

  /** Keeps a message until `remove`. */
  add(cutShort: () => void): Handling {
    const message: Handling = { at: this.#messages.length, cutShort, waiting: null }
    this.#messages.push(message)
    return message
  }

  remove(message: Handling): void {
    const last = this.#messages.pop()
    if (last !== undefined && last !== message) {
      this.#messages[message.at] = last
      last.at = message.at
    }
    if (message.waiting !== null) for (const resolve of message.waiting) resolve()
    if (this.#messages.length === 0) for (const resolve of this.#idle.splice(0)) resolve()
  }

  /** Ends every message early. */
  cutShort(): void {
    for (const message of [...this.#messages]) message.cutShort()
  }

  /** Resolves when the current messages are over. */
  allOver(): Promise<unknown> {
    return Promise.all(
      this.#messages.map(
        message =>
          new Promise<void>(resolve => {
            message.waiting ??= []
            message.waiting.push(resolve)
          }),
      ),
    )
  }

  /** Resolves when there is no message. */
  idle(): Promise<void> {
    return this.#messages.length === 0 ? Promise.resolve() : new Promise(resolve => this.#idle.push(resolve))
  }
}
