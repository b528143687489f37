/** The subscriptions of one client's socket: its own ids, its limits, and each message charged before it leaves. */
import { familyOf } from '../../families/families.ts'
import { elementsOf } from '../../jsonrpc/elements.ts'
import type { Grant } from '../../ports/limits.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { isRefusal } from '../../refusal/refusal.ts'
import type { Refusal } from '../../refusal/refusal.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { MethodRow } from '../../snapshot/types.ts'
import type { HeightKind } from '../../families/height-kind.ts'
import type { Message, Share, SubscribeCall } from '../../ports/subscriptions.ts'
import { refused } from '../../call/reply/answer.ts'
import type { WholeAnswer } from '../../call/reply/answer.ts'
import type { Caller, Payer, Session } from '../../call/caller.ts'
import type { Live } from '../../call/context.ts'
import { holderOf, readerOf } from '../../call/caller.ts'
import type { NotificationFrame } from './notification-frame.ts'
import type { Outbox } from './outbox.ts'
import { giveBack, NO_JOURNAL } from '../../call/run.ts'
import { note } from '../../call/execute.ts'

/** The socket as the session uses it. */
export interface ClientEnd {
  /** Whether it was sent: nothing is once the socket closes. */
  notify(frame: NotificationFrame, id: Raw): boolean
  close(code: number, reason: string): void
  /** Closes as soon as no call is in flight. */
  finish(code: number, reason: string): void
}

interface Subscription {
  /** Raw, as the client knows it. */
  readonly id: Raw
  /** Method name of its messages, under which they are charged. */
  readonly name: string
  /** Method of the call that made it. */
  readonly method: string
  readonly network: string
  share: Share | null
  isHeld: boolean
}

/** A message on its way to the client, and what it costs. */
interface Notification {
  readonly frame: NotificationFrame
  readonly id: Raw
  readonly name: string
  readonly units: number
}

/** What a client holds on its socket. */
export class ClientSession implements Session {
  /** Who the client is now; kept up to date by the socket. */
  caller: Caller | null = null
  refusal: Refusal | null = null
  readonly #live: Live
  /** The notifications whose limits are waited for; null where none are. */
  #taking: Promise<void> | null = null
  readonly #outbox: Outbox
  readonly #end: ClientEnd
  readonly #notificationCost: () => number
  readonly #subscriptions = new Map<Raw, Subscription>()
  #closed = false

  constructor(live: Live, outbox: Outbox, end: ClientEnd, notificationCost: () => number) {
    this.#live = live
    this.#outbox = outbox
    this.#end = end
    this.#notificationCost = notificationCost
  }

  /** Subscriptions held now. */
  get size(): number {
    return this.#subscriptions.size
  }

  /** Methods that made the subscriptions held now. */
  get methods(): ReadonlySet<string> {
    return new Set([...this.#subscriptions.values()].map(({ method }) => method))
  }

  async subscribe(row: MethodRow, call: SubscribeCall, caller: Caller): Promise<WholeAnswer> {
    const { network, plan } = caller
    const words = familyOf(network).subscriptions
    const name = words.notification(row.rule.match)
    const scale = words.scale(call.method, call.params)
    const { slug } = network
    const { method } = call
    // prettier-ignore
    const subscription: Subscription = { id: words.newId(), name, method, network: slug, share: null, isHeld: true }
    this.#subscriptions.set(subscription.id, subscription)
    this.#live.clientSubscriptions.take(slug, Infinity)
    const listener = {
      message: (message: Message): void => {
        if (scale !== null) this.#remember(scale, message)
        this.#hear(subscription, message)
      },
      lost: (why: string): void => {
        this.#end.close(1012, why)
      },
    }
    const subscriber = { holder: holderOf(caller), limit: plan.ws.subscriptions }
    const joined = await this.#live.subscriptions.join(network, row, call, listener, subscriber)
    if (!('leave' in joined)) {
      this.#forget(subscription)
      return isRefusal(joined) ? refused(joined) : { kind: 'error', error: joined.error }
    }
    subscription.share = joined
    if (this.#closed || !subscription.isHeld) joined.leave()
    return {
      kind: 'result',
      result: subscription.id,
      delivered: sent => {
        if (sent) joined.start()
        else this.#forget(subscription)
      },
    }
  }

  holds(params: Raw): boolean {
    return this.#named(params) !== undefined
  }

  unsubscribe(params: Raw, { network }: Caller): WholeAnswer {
    const subscription = this.#named(params)
    if (subscription === undefined) return { kind: 'error', error: familyOf(network).subscriptions.unknownId }
    this.#forget(subscription)
    return { kind: 'result', result: 'true' }
  }

  #named(params: Raw): Subscription | undefined {
    const id = params.charCodeAt(0) === 91 ? elementsOf(params)[0] : undefined
    return id === undefined ? undefined : this.#subscriptions.get(id)
  }

  /** Leaves everything: the socket is gone. */
  close(): void {
    this.#closed = true
    for (const subscription of [...this.#subscriptions.values()]) this.#forget(subscription)
  }

  #forget(subscription: Subscription): void {
    if (!this.#subscriptions.delete(subscription.id)) return
    subscription.isHeld = false
    subscription.share?.leave()
    this.#live.clientSubscriptions.free(subscription.network)
  }

  #remember(scale: HeightKind, { height, route }: Message): void {
    const { caller } = this
    if (caller === null || height === null) return
    note({ network: caller.network, reader: readerOf(caller), route }, scale, height, this.#live)
  }

  #hear(subscription: Subscription, message: Message): void {
    const { caller } = this
    if (caller === null || this.#closed || !subscription.isHeld) return
    if (message.last) this.#forget(subscription)
    const { id, name } = subscription
    const frame = this.#outbox.frameOf(message, name, caller.network)
    const units = caller.payer === null ? 0 : this.#notificationCost()
    this.#deliver({ frame, id, name, units }, caller)
  }

  #deliver(notification: Notification, caller: Caller): void {
    const { limits, journal, clock } = this.#live
    if (caller.payer === null) {
      this.#send(notification, caller)
      return
    }
    const price = { units: notification.units, isRated: false }
    const taking = journal.failure === null ? limits.take(caller, price, clock.now()) : NO_JOURNAL
    if (!(taking instanceof Promise) && this.#taking === null)
      this.#charge(taking, notification, caller, caller.payer)
    else this.#chargeInOrder(taking, notification, caller, caller.payer)
  }

  /** Charges in the order they came, whichever limits answer first. */
  #chargeInOrder(
    taking: MaybePromise<Grant | Refusal>,
    notification: Notification,
    caller: Caller,
    payer: Payer,
  ): void {
    const last = Promise.all([taking, this.#taking]).then(([taken]) => {
      this.#charge(taken, notification, caller, payer)
      if (this.#taking === last) this.#taking = null
    })
    this.#taking = last
  }

  /** What was charged before still goes out, and calls in flight are answered. */
  #finish(refusal: Refusal): void {
    const { reason } = refusal
    this.#closed = true
    this.refusal ??= refusal
    this.#outbox.after(() => {
      this.#end.finish(reason === 'quota_exhausted' ? 1008 : 1013, reason)
    })
  }

  #charge(taken: Grant | Refusal, notification: Notification, caller: Caller, payer: Payer): void {
    if (isRefusal(taken)) {
      this.#finish(taken)
      return
    }
    const { frame, id, name, units } = notification
    const charge = this.#live.journal.charge(payer, name, units, taken.period, taken.at)
    this.#outbox.push(charge, committed => {
      if (!committed) this.#end.close(1013, 'journal_unavailable')
      if (committed && this.#send(notification, caller))
        charge.settle({ error: false, bytesOut: frame.lengthWith(id), upstreamMs: 0 })
      else void giveBack(taken, charge)
    })
  }

  /** Whether it was sent: nothing is once the socket closes. */
  #send({ frame, id, units }: Notification, { network, plan }: Caller): boolean {
    const sent = this.#end.notify(frame, id)
    if (sent) this.#live.observer.notification({ network: network.slug, plan: plan.name, requests: units })
    return sent
  }
}
