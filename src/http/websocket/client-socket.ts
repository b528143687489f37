/** One client's WebSocket: its frames walk the same line as HTTP bodies. */
import type { Socket } from 'node:net'
import type { RawData, WebSocket } from 'ws'
import { FREE, Hold } from '../../limits/byte-budget.ts'
import type { Budget } from '../../limits/byte-budget.ts'
import type { Gateway } from '../../call/gateway.ts'
import { refuse } from '../../refusal/refusal.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Caller } from '../../call/caller.ts'
import { holderOf } from '../../call/caller.ts'
import type { MaybePromise } from '../../ports/maybe-promise.ts'
import { ClientSession } from '../../subscriptions/client/session.ts'
import type { NotificationFrame } from '../../subscriptions/client/notification-frame.ts'
import type { Outbox } from '../../subscriptions/client/outbox.ts'
import { Departure } from '../../net/departure.ts'
import type { FairTurns } from '../fair-turns.ts'
import { Admission } from './admission.ts'
import type { SocketVisitor } from './admission.ts'
import { Heartbeat } from './heartbeat.ts'
import { overloadedFrame } from './overloaded-frame.ts'
import { PartialMessage } from './partial-message.ts'
import { nextRequestId } from '../replies/reply.ts'
import { SendQueue } from './send-queue.ts'
import { readWholeFrames } from './whole-frames.ts'
import { SocketSink } from './socket-sink.ts'
import type { SinkSocket } from './socket-sink.ts'

/** Messages of one socket that are being handled at a time; above that it is not read. */
const IN_FLIGHT = 100
/** Frames that wait behind them: what one read has brought is handed on to its end, and a read holds about 1 500 of the shortest calls. */
const MAX_WAITING = 4_096
/** Bytes that a waiting frame costs besides its own. */
const PER_FRAME = 256
/** Milliseconds that a client gets to answer a close. */
const CLOSE_PATIENCE = 2_000
const SLOW = 'slow consumer'
const NO_NETWORK = 'the network is no longer served'

/** What a socket is made of. */
export interface ClientSocketOptions {
  readonly gateway: Gateway
  readonly outbox: Outbox
  readonly visitor: SocketVisitor
  readonly caller: Caller
  /** The part of the client in what may be held. */
  readonly memory: Budget
  readonly turns: FairTurns
  readonly onClose: () => void
}

/** One message, and what it holds. */
type Frame = Readonly<{ body: Buffer; hold: Hold }>

/** Opens with the upgrade, closes with the connection. */
export class ClientSocket implements SinkSocket {
  readonly network: string
  readonly session: ClientSession
  readonly departure = new Departure()
  readonly #socket: WebSocket
  readonly #options: ClientSocketOptions
  readonly #queue: SendQueue
  readonly #heartbeat: Heartbeat
  readonly #admission: Admission
  readonly #waiting: Frame[] = []
  readonly #partial: PartialMessage
  #inFlight = 0
  #isStarting = false
  #closing = false
  /** How it closes once everything that came has been answered; null while it stays. */
  #goodbye: { readonly code: number; readonly reason: string } | null = null

  constructor(socket: WebSocket, connection: Socket, options: ClientSocketOptions) {
    const { gateway, outbox, visitor, caller, memory } = options
    this.#socket = socket
    this.#options = options
    this.#queue = new SendQueue(connection, memory)
    this.#heartbeat = new Heartbeat(socket, this.#queue)
    this.#partial = new PartialMessage(memory)
    this.network = caller.network.slug
    this.session = new ClientSession(gateway.live, outbox, this, () => gateway.snapshot.notification.cost)
    this.session.caller = { ...caller, session: this.session }
    this.#admission = new Admission(gateway, visitor, this.session)
    socket.on('message', (data, isBinary) => {
      this.#receive(data, isBinary)
    })
    readWholeFrames(socket, (bytes, kept) => {
      // Pings and pongs are part of no message: a client that only listens would hold more with each.
      if (kept !== null) this.#partial.complete()
      if (this.#partial.receive(kept ?? bytes)) return
      // The rest of an incoming message does not fit in memory.
      this.close(1013, 'overloaded')
      socket.terminate()
    })
    connection.on('drain', () => {
      this.#queue.count()
      this.#next()
    })
    // ws closes with the right code by itself; an error only has to be heard.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      this.departure.leave()
      this.#queue.close()
      this.#partial.close()
      for (const { hold } of this.#waiting.splice(0)) hold.release()
      this.session.close()
      options.onClose()
    })
  }

  /** Who the client is now; null when its key no longer opens this network. */
  get caller(): Caller | null {
    return this.session.caller
  }

  send(frame: Raw | Buffer): boolean {
    return this.#takesMore() && this.#queue.send(frame)
  }

  notify(frame: NotificationFrame, id: Raw): boolean {
    return this.#takesMore() && this.#queue.notify(frame, id)
  }

  /** Whether it is open, and its client reads what it is sent. */
  #takesMore(): boolean {
    if (this.#socket.readyState !== this.#socket.OPEN) return false
    if (!this.#queue.isOver()) return true
    this.close(1013, SLOW)
    return false
  }

  /** Says goodbye; a client that does not answer is cut. */
  close(code: number, reason: string): void {
    if (this.#closing) return
    this.#closing = true
    this.#socket.close(code, reason)
    setTimeout(() => {
      this.#socket.terminate()
    }, CLOSE_PATIENCE).unref()
  }

  /** Closes as soon as no call is in flight; serves those that come until then. By default as the gateway does when it goes away. */
  finish(code = 1001, reason = 'the gateway is going away'): void {
    this.#goodbye ??= { code, reason }
    this.#goWhenDone()
  }

  #goWhenDone(): void {
    if (this.#goodbye !== null && this.#inFlight === 0 && this.#waiting.length === 0)
      this.close(this.#goodbye.code, this.#goodbye.reason)
  }

  /** Closes the socket of a client that may not go on, behind its calls in flight where its network has gone. */
  recheck(): void {
    const { refusal } = this.#admission
    if (refusal === 'no network') {
      this.session.refusal ??= refuse('not_found', NO_NETWORK)
      this.finish(1001, NO_NETWORK)
    } else if (refusal !== null) this.close(1008, refusal.reason)
  }

  /** Closes the socket where the plan or the rules no longer have one of its subscriptions: no message could tell the client. */
  recheckSubscriptions(): void {
    const { caller } = this
    if (this.#isOver() || caller === null) return
    for (const method of this.session.methods) {
      const refusal = this.#options.gateway.ruleRefusal(caller, method)
      if (refusal !== null) this.close(1008, refusal.reason)
    }
  }

  closeSurplus(): void {
    this.close(1008, 'too_many_connections')
  }

  #isOver(): boolean {
    return this.#closing || this.departure.isOver
  }

  /** Once a second: pings, and ends connections that are dead or stuck. */
  tick(now: number): void {
    this.#queue.count()
    if (this.#queue.isStuck()) this.close(1013, SLOW)
    this.#heartbeat.tick(now)
  }

  #receive(data: RawData, isBinary: boolean): void {
    this.#heartbeat.heard()
    this.#partial.complete()
    if (isBinary) {
      this.close(1003, 'send text')
      return
    }
    // With the default binaryType a message is one Buffer.
    const body = data as Buffer
    const hold = new Hold(this.#options.memory)
    const waits = this.#waiting.length > 0 || !this.#mayStart()
    if (hold.take(body.length + (waits ? FREE + PER_FRAME : 0)) !== null) {
      this.#refuse()
      return
    }
    this.#waiting.push({ body, hold })
    if (this.#waiting.length > MAX_WAITING) this.close(1008, 'too many messages')
    this.#next()
  }

  /** Answers a message that there is no memory to hold. */
  #refuse(): void {
    this.send(overloadedFrame(this.#options.caller, this.#options.gateway.live))
  }

  #mayStart(): boolean {
    return this.#inFlight < IN_FLIGHT && !this.#queue.isLong
  }

  /** Starts what may start. ws goes on telling of frames that it has read already, so they wait here. */
  #next(): void {
    // What is answered at once comes here again, and leaves the rest to the loop that it came from.
    if (this.#isStarting) return
    this.#isStarting = true
    const { turns, caller } = this.#options
    while (this.#mayStart() && this.#waiting.length > 0) {
      const frame = this.#waiting.shift()!
      this.#inFlight += 1
      turns.begin(this, holderOf(caller), frame.body.length, () => {
        this.#begin(frame)
      })
    }
    this.#isStarting = false
    if (this.#waiting.length > 0 || this.#queue.isLong) this.#socket.pause()
    else if (this.#socket.isPaused) this.#socket.resume()
  }

  #begin({ body, hold }: Frame): void {
    const over = (): void => {
      hold.release()
      this.#inFlight -= 1
      this.#next()
      this.#goWhenDone()
    }
    const handling = this.#handle(body, hold)
    if (handling instanceof Promise) void handling.then(over)
    else over()
  }

  later(goOn: () => void): void {
    this.#options.turns.goOn(this, holderOf(this.#options.caller), goOn)
  }

  /** Keeps nothing of the body: a call that waits for its node has read it. */
  #handle(body: Buffer, hold: Hold): MaybePromise<void> {
    if (this.#isOver()) return
    this.recheck()
    const { caller } = this
    if (this.#isOver() || caller === null) return
    const { gateway } = this.#options
    if (gateway.hasRoomFor(caller))
      return gateway.handle(body, caller, new SocketSink(this, hold), nextRequestId())
    this.#refuse()
  }
}
