/** The gateway: holds the current snapshot, and takes each message through the pipeline with it. */
import { isRefusal } from './jsonrpc/is-refusal.ts'
import { refuse } from './jsonrpc/refusal.ts'
import type { Refusal } from './jsonrpc/refusal.ts'
import { authenticate } from './pipeline/authenticate.ts'
import type { Keys, Visitor } from './pipeline/authenticate.ts'
import type { Caller } from './pipeline/caller.ts'
import type { Context, Live } from './pipeline/context.ts'
import { deliver } from './pipeline/deliver.ts'
import { refuseMessage } from './pipeline/refuse-message.ts'
import type { Sink } from './pipeline/sink.ts'
import type { Snapshot } from './snapshot/types.ts'
import type { Opened } from './upstream/upstreams.ts'
import type { RateState } from './usage/bucket.ts'

/** Serves messages; transports call it, reloads swap its snapshot. */
export class Gateway {
  readonly live: Live
  readonly #keys: Keys
  #snapshot: Snapshot
  readonly #active = new Set<() => void>()
  #idle: (() => void)[] = []

  constructor(snapshot: Snapshot, keys: Keys, live: Live) {
    this.#snapshot = snapshot
    this.#keys = keys
    this.live = live
  }

  /** The snapshot that new messages are served with. */
  get snapshot(): Snapshot {
    return this.#snapshot
  }

  /** Serves new messages with another snapshot, whose routes are `opened`; those under way keep theirs. */
  swap(snapshot: Snapshot, opened: Opened): void {
    this.#snapshot = snapshot
    this.live.upstreams.adopt(opened)
    this.live.prober.watch(snapshot)
    this.live.subscriptions.reconcile()
  }

  /** Who a visitor is, before its body is read. */
  admit(visitor: Visitor): Caller | Refusal {
    const caller = authenticate(visitor, this.#snapshot, this.#keys)
    if (!isRefusal(caller) || caller.reason !== 'invalid_key') return caller
    return this.live.badKeys.count(visitor.limitAddress, this.live.now()) ?? caller
  }

  /** Handles one message of an admitted caller; resolves once its reply has been handed to the sink. */
  async handle(body: Buffer, caller: Caller, sink: Sink, requestId: string): Promise<void> {
    const context: Context = { snapshot: this.#snapshot, live: this.live, requestId, gone: () => sink.gone() }
    const cutShort = (): void => {
      refuseMessage(refuse('no_route', 'The gateway is shutting down'), caller, sink, context)
    }
    this.#active.add(cutShort)
    try {
      await deliver(body, caller, sink, context)
    } catch (error) {
      this.live.observer.bug(error, requestId)
      sink.cut()
    } finally {
      this.#active.delete(cutShort)
      if (this.#active.size === 0) for (const resolve of this.#idle.splice(0)) resolve()
    }
  }

  /** What the rate headers of a reply to this caller say. */
  rate({ payer, plan, address }: Caller): RateState | null {
    const { meter, publicMeter, now } = this.live
    return payer === null ? publicMeter.rate(plan.rate, address, now()) : meter.rate(payer, now())
  }

  /** Changes whenever open sockets have to be looked at again: keys, accounts or the snapshot have changed. */
  get epoch(): string {
    return `${this.#keys.changes} ${this.#snapshot.version}`
  }

  /** Whether no further call is to be taken. */
  get isFull(): boolean {
    return this.#active.size >= this.#snapshot.gateway.limits.inFlight
  }

  /** Messages being handled. */
  get inFlight(): number {
    return this.#active.size
  }

  /** Answers every message that is being handled with a refusal; what comes of them later is said to nobody. */
  cutShort(): void {
    for (const cut of this.#active) cut()
  }

  /** Resolves when no message is being handled. */
  idle(): Promise<void> {
    return this.#active.size === 0 ? Promise.resolve() : new Promise(resolve => this.#idle.push(resolve))
  }
}
