/** The gateway: holds the current snapshot, and takes each message through the pipeline with it. */
import { DIVISIBLE_FROM, FairShare } from '../limits/fair-share.ts'
import { isRefusal, refuse, SHUTTING_DOWN } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'
import { authenticate, holderOf } from './caller.ts'
import type { Visitor, Caller } from './caller.ts'
import type { Context, Live } from './context.ts'
import { decide } from './decide.ts'
import { InFlight } from './in-flight.ts'
import { dropOutdated } from './cache/outdated.ts'
import { handleMessage } from './message.ts'
import { refuseMessage } from './refuse-message.ts'
import type { Sink } from './reply/sink.ts'
import type { Keys } from '../ports/keys.ts'
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

/** A request that was refused before a message was read. */
export interface RefusedEarly {
  readonly refusal: Refusal
  readonly status: number
  /** Empty where nobody was told one. */
  readonly requestId: string
  /** What it asked for, as far as that can be read. */
  readonly asked: { readonly network: string; readonly key: string } | null
  /** Of the client, where the access log wants it. */
  readonly address?: string | null
}

/** What a method as such is decided by: heads matter to params only. */
const NO_VIEW = { maxDepth: 0, head: null, firstKept: () => null }

const OF_THE_RULES: ReadonlySet<string> = new Set(['method_not_found', 'plan_required'])

/** Serves messages; transports call it, reloads swap its snapshot. */
export class Gateway {
  readonly live: Live
  readonly #keys: Keys
  #snapshot: Snapshot
  #swaps = 0
  /** The epoch when denied callers were last looked for. */
  #asked = 0
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
    dropOutdated(this.#snapshot, snapshot, this.live)
    this.#snapshot = snapshot
    this.#swaps += 1
    const left = this.live.upstreams.adopt(opened)
    this.live.prober.watch(snapshot)
    this.live.subscriptions.reconcile(snapshot)
    return { left, underWay: this.#messages.allOver() }
  }

  /** Who a visitor is, before its body is read. Only a guess at keys may have to wait for its refusal: other processes count them too. */
  admit(visitor: Visitor): Caller | MaybePromise<Refusal> {
    const caller = this.readmit(visitor)
    if (!isRefusal(caller) || caller.reason !== 'invalid_key') return caller
    const tooMany = this.live.badKeys.count(visitor.limitAddress, this.live.clock.now())
    return tooMany instanceof Promise ? tooMany.then(refusal => refusal ?? caller) : (tooMany ?? caller)
  }

  /** Counts a request that is refused before a message is read: as its owner's where the key is known. */
  refusedEarly({ refusal: { reason }, status, requestId, asked, address = null }: RefusedEarly): void {
    const { observer, journal, clock } = this.live
    const { network = '', key = '' } = asked ?? {}
    const owner = key === '' ? null : this.#keys.find(key)
    const plan = owner?.account.plan ?? (key === 'public' ? key : '')
    const [account, endpoint] = [owner?.account.id ?? null, owner?.endpoint.id ?? null]
    observer.refused({ network, plan, address, account, endpoint, requestId, status, reason })
    if (owner !== null) journal.refused(owner, 'other', reason, clock.now())
  }

  /** Who a visitor is by now that was let in before: its key may be gone since, which is no guess at keys. */
  readmit(visitor: Visitor): Caller | Refusal {
    return authenticate(visitor, this.#snapshot, this.#keys)
  }

  #renewed({ visitor }: Pick<Caller, 'visitor'>): Caller | Refusal {
    const network = this.#snapshot.networks[visitor.network.slug]
    return network === undefined ? refuse('not_found') : this.readmit({ ...visitor, network })
  }

  /** The caller that a visitor is by now, or why it may no longer call the method. */
  renewedFor(visitor: Visitor, method: string): Caller | Refusal {
    const caller = this.#renewed({ visitor })
    return isRefusal(caller) ? caller : (this.ruleRefusal(caller, method) ?? caller)
  }

  /** Handles one message of an admitted caller; resolves once its reply has been handed to the sink. */
  handle(body: Buffer, caller: Caller, sink: Sink, requestId: string): MaybePromise<void> {
    const context = this.#contextOf(sink, caller, requestId)
    return this.#follow(() => handleMessage(body, caller, sink, context), caller, sink, context)
  }

  /** Lets one request of an admitted caller through to a verbatim HTTP network. */
  pass(method: string, caller: Caller, sink: VerbatimSink, requestId: string): MaybePromise<void> {
    const context = this.#contextOf(sink, caller, requestId)
    return this.#follow(() => handleRequest(method, caller, sink, context), caller, sink, context)
  }

  /** The visitor's caller as of now, if a call of the method would be served now, and could be by this route; else null. */
  servedNow(visitor: Visitor, method: string, route: string): Caller | null {
    const caller = this.#renewed({ visitor })
    if (isRefusal(caller)) return null
    const decided = decide({ method, params: null }, caller, NO_VIEW)
    return decided.refusal === null && decided.routes.includes(route) ? caller : null
  }

  /** Why the rules or the caller's plan no longer have a method, whatever the routes can do; null where they do. */
  ruleRefusal(caller: Caller, method: string): Refusal | null {
    const { refusal } = decide({ method, params: null }, caller, NO_VIEW)
    return refusal !== null && OF_THE_RULES.has(refusal.reason) ? refusal : null
  }

  #contextOf(sink: Sink, caller: Caller, requestId: string): Context {
    const { payer } = caller
    let [epoch, now]: [number, Caller | Refusal] = [this.epoch, caller]
    return {
      renew: () => {
        if (this.epoch === epoch) return now
        epoch = this.epoch
        now = this.#renewed(caller)
        return now
      },
      snapshot: this.#snapshot,
      purges: this.live.answers.purges,
      live: this.live,
      requestId,
      payer,
      endsWhenDenied: false,
      holder: sink.holder,
      departure: () => sink.departure,
      trace: null,
    }
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
    const message = this.#messages.add(
      () => {
        refuseMessage(refuse('no_route', SHUTTING_DOWN), caller, sink, context)
      },
      () => {
        const refusal = context.endsWhenDenied ? this.#denied(caller) : null
        if (refusal === null) return
        refuseMessage(refusal, caller, sink, context)
        // What works for it stops as if its client had left.
        sink.departure?.leave()
      },
    )
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

  /** Ends messages of callers whose key, account or endpoint lets them call no longer since it was asked last. To be asked a few times a second. */
  endDenied(): void {
    if (this.#asked === this.epoch) return
    this.#asked = this.epoch
    this.#messages.endDenied()
  }

  /** Why a caller with a key is denied by now; a network that is gone serves what is under way. */
  #denied({ payer, visitor }: Caller): Refusal | null {
    if (payer === null || this.#snapshot.networks[visitor.network.slug] === undefined) return null
    const now = this.#renewed({ visitor })
    return isRefusal(now) ? now : null
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
