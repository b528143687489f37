/** One WebSocket to an upstream, shared by all subscriptions that its route serves. */
import type { Ask } from '../../families/gap.ts'
import { WebSocket } from 'ws'
import type { Reply } from '../../jsonrpc/message.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Route } from '../../snapshot/types.ts'
import type { ByteBudget } from './backlog.ts'
import { connect } from './connect.ts'
import { EarlyNotifications } from './early.ts'
import { FloodGauge, STRAY } from './flood.ts'
import { isSubscriptionId, readFrame } from './frame.ts'
import type { Notification } from './frame.ts'
import { Heartbeat } from './heartbeat.ts'
import { Inbox } from './inbox.ts'
import { Progress } from '../shared/progress.ts'
import type { ReadingTurns } from './reading-turns.ts'
import { Requests } from './requests.ts'
import type { OnReply } from './requests.ts'

/** How often a subscribe request is sent when its id was ended by an unsubscribe that was sent after it. */
const SUBSCRIBE_TRIES = 3

const NOBODY: readonly string[] = []

type OnNotification = (notification: Notification) => void

/** A subscription of the upstream. */
export interface Carried {
  readonly id: Raw
  /** False when messages that came before its reply had to be dropped. */
  readonly complete: boolean
}

/** What begins a subscription, and the method that ends it. */
export interface SubscribeCall {
  readonly method: string
  readonly params: Raw
  readonly unsubscribe: string
  /** A name for its caller or for the subscription, by which it is suspected if the upstream closes the socket. */
  readonly name: string
  /** Whether an upstream has accepted it before. */
  readonly isKnown: boolean
}

/** What a socket works with and reports to. */
export interface SocketContext {
  readonly turns: ReadingTurns
  readonly budget: ByteBudget | null
  /** Milliseconds until the next ping. */
  readonly pingEvery: () => number
  /** A bug of ours; the socket is closed. */
  readonly onBug: (error: unknown) => void
  /** The socket is cut for what the node sends. */
  readonly onCut: (why: string) => void
  /** The socket is over, and not because nothing needs it any more. `isSuspect`: a call may be the reason, not the route. */
  readonly onLost: (isSuspect: boolean) => void
}

/** An open socket. It never reconnects: its subscriptions look for another one. */
export class UpstreamSocket {
  readonly routeId: string
  /** How far its subscriptions have come. */
  readonly progress = new Progress()
  readonly #socket: WebSocket
  readonly #context: SocketContext
  readonly #requests = new Requests()
  /** A node may give equal subscriptions one id: every listener of it gets each message. */
  readonly #listeners = new Map<Raw, Set<OnNotification>>()
  /** Whose subscribe requests are in flight, by their numbers, oldest first. */
  readonly #subscribing = new Map<number, SubscribeCall>()
  /** Ids that were unsubscribed from, and by which request, oldest first. */
  readonly #ended = new Map<Raw, number>()
  readonly #early: EarlyNotifications
  readonly #strays = new FloodGauge(STRAY)
  readonly #inbox: Inbox
  readonly #heartbeat: Heartbeat
  readonly #onClose = new Set<() => void>()
  #over = false
  /** Whose first subscribe calls were in flight when the upstream closed the socket, perhaps for the params of one of them. */
  #suspects: readonly string[] = NOBODY

  /** Opens a socket; rejects when the upstream does not take it in time. */
  static async open(route: Route, connectTimeout: number, context: SocketContext): Promise<UpstreamSocket> {
    return new UpstreamSocket(route.id, await connect(route, connectTimeout), context)
  }

  private constructor(routeId: string, socket: WebSocket, context: SocketContext) {
    this.routeId = routeId
    this.#socket = socket
    this.#context = context
    this.#early = new EarlyNotifications(context.budget)
    this.#inbox = new Inbox(socket, context.turns, frame => {
      this.#read(frame)
    })
    this.#heartbeat = new Heartbeat(socket, context.pingEvery)
    socket.on('pong', () => {
      this.#beat()
    })
    socket.on('close', () => {
      this.#end(true)
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /**
   * Whether the upstream closed it while a subscribe call of this name was in flight, perhaps for its params: `any` of
   * those in flight, or the `oldest`, which a node handles first.
   */
  isClosedFor(name: string, which: 'any' | 'oldest'): boolean {
    return which === 'any' ? this.#suspects.includes(name) : this.#suspects[0] === name
  }

  /** Whether nothing is carried by it or asked over it. */
  get isIdle(): boolean {
    return this.#listeners.size + this.#requests.size === 0
  }

  /** Calls `listener` once when the socket is gone, at once when it already is; returns how to take that back. */
  whenClosed(listener: () => void): () => void {
    if (this.isOpen) this.#onClose.add(listener)
    else listener()
    return () => this.#onClose.delete(listener)
  }

  readonly ask: Ask = (method, params) =>
    new Promise(resolve => {
      this.#send(method, params, resolve)
    })

  /**
   * Begins a subscription and routes its notifications to `listener`, those first that came before the reply. Resolves
   * to the upstream's id, to its error, or to null when the socket broke, the reply gave no id, or it did not come in time;
   * one that comes later is unsubscribed from.
   */
  subscribe(call: SubscribeCall, listener: OnNotification): Promise<Carried | Reply | null> {
    return new Promise(resolve => {
      this.#subscribe(call, listener, SUBSCRIBE_TRIES, resolve)
    })
  }

  /**
   * Takes a listener off an id. Where it was the last one, unsubscribes (with null the upstream has ended it already).
   * Resolves when nothing of it is left at the node.
   */
  async leave(id: Raw, listener: OnNotification, unsubscribe: string | null): Promise<void> {
    const listeners = this.#listeners.get(id)
    if (listeners?.delete(listener) !== true || listeners.size > 0) return
    this.#listeners.delete(id)
    if (unsubscribe === null || !this.isOpen) return
    await new Promise(resolve => {
      const request = this.#send(unsubscribe, `[${id}]`, resolve)
      this.#ended.delete(id)
      this.#ended.set(id, request)
    })
    this.#prune()
  }

  /** Says goodbye; it counts as gone at once, so that nobody begins anything on it. */
  close(): void {
    this.#socket.close(1000)
    this.#end(false)
  }

  /** Cuts it, because of what the node sends. */
  drop(why: string): void {
    if (!this.isOpen) return
    this.#context.onCut(why)
    this.#subscribing.clear()
    this.#socket.terminate()
    this.#end(true)
  }

  #subscribe(
    call: SubscribeCall,
    listener: OnNotification,
    tries: number,
    done: (outcome: Carried | Reply | null) => void,
  ): void {
    let request = 0
    const onReply: OnReply = reply => {
      this.#subscribing.delete(request)
      if (reply?.kind !== 'result') done(reply)
      else if (!isSubscriptionId(reply.result)) done(null)
      else if ((this.#ended.get(reply.result) ?? 0) < request) done(this.#carry(reply.result, listener))
      // The node gave the id of an equal subscription, and has been told to end that since.
      else if (tries > 1) this.#subscribe(call, listener, tries - 1, done)
      else done(null)
      this.#prune()
    }
    const onLate: OnReply = reply => {
      if (reply?.kind !== 'result' || !isSubscriptionId(reply.result)) return
      if (!this.#listeners.has(reply.result)) void this.ask(call.unsubscribe, `[${reply.result}]`)
    }
    request = this.#send(call.method, call.params, onReply, onLate)
    if (request > 0) this.#subscribing.set(request, call)
  }

  #carry(id: Raw, listener: OnNotification): Carried {
    const listeners = this.#listeners.get(id)
    if (listeners === undefined) this.#listeners.set(id, new Set([listener]))
    else listeners.add(listener)
    const early = this.#early.take(id)
    for (const notification of early ?? []) listener(notification)
    return { id, complete: early !== null }
  }

  /** Forgets what only a subscribe request in flight could need: ids are matched by the order of requests. */
  #prune(): void {
    const [oldest = Infinity] = this.#subscribing.keys()
    if (oldest === Infinity) this.#early.clear()
    for (const [id, request] of this.#ended) {
      if (request > oldest || this.#requests.has(request)) break
      this.#ended.delete(id)
    }
  }

  /** Sends a request, and returns its number; 0 when the socket is not open. */
  #send(method: string, params: Raw, onReply: OnReply, onLate: OnReply | null = null): number {
    if (!this.isOpen) {
      onReply(null)
      return 0
    }
    const id = this.#requests.begin(onReply, onLate)
    const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
    this.#socket.send(Buffer.from(body, 'latin1'), { binary: false })
    return id
  }

  #beat(): void {
    this.#heartbeat.beat()
    this.progress.beat()
  }

  #read(data: Buffer): void {
    this.#beat()
    try {
      if (!this.#dispatch(data) && this.#strays.add(data.length, performance.now()))
        this.drop('it sends messages that belong to no subscription and no request')
    } catch (error) {
      this.#context.onBug(error)
      this.#socket.terminate()
    }
  }

  /** Takes a frame to whom it is for; false when it is for nobody. */
  #dispatch(data: Buffer): boolean {
    const frame = readFrame(data.toString('latin1'))
    if (frame === null) return false
    if (frame.kind === 'reply') return this.#requests.settle(frame.id, frame.reply)
    const listeners = this.#listeners.get(frame.subscription)
    if (listeners !== undefined) for (const listener of listeners) listener(frame)
    // Until the node has read that it was unsubscribed from, it rightly goes on.
    else if (!this.#ended.has(frame.subscription)) return this.#subscribing.size > 0 && this.#early.add(frame)
    return true
  }

  #end(lost: boolean): void {
    if (this.#over) return
    this.#over = true
    this.#inbox.clear()
    if (lost) {
      const calls = [...this.#subscribing.values()]
      this.#suspects = calls.map(({ name }) => name)
      // One that carried nothing else may be closed by the route itself.
      this.#context.onLost(calls.some(({ isKnown }) => !isKnown) && this.#listeners.size > 0)
    }
    this.#requests.settleAll()
    for (const listener of this.#onClose) {
      this.#onClose.delete(listener)
      listener()
    }
  }
}
