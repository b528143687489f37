/** One WebSocket to an upstream, shared by all subscriptions that its route serves. */
import { WebSocket } from 'ws'
import type { RawData } from 'ws'
import type { Raw } from '../../jsonrpc/raw.ts'
import type { Reply } from '../../jsonrpc/reply.ts'
import type { Route } from '../../snapshot/types.ts'
import { readFrame } from './frame.ts'
import type { Notification } from './frame.ts'

/** Milliseconds between pings, and how long an answer may take. */
const PING_EVERY = 15_000
/** Milliseconds that a request over the socket may take. */
const REQUEST_TIMEOUT = 10_000
/** Bytes of one message of an upstream. */
const MAX_MESSAGE = 64 * 1024 * 1024
/** Notifications kept that came before the reply to their subscribe. */
const MAX_EARLY = 1_000

type OnReply = (reply: Reply | null) => void
type OnNotification = (notification: Notification) => void

/** A request that goes over the socket; null when it broke or gave no usable reply. */
export type Ask = (method: string, params: Raw) => Promise<Reply | null>

/** An open socket. It never reconnects: its subscriptions look for another one. */
export class UpstreamSocket {
  readonly routeId: string
  readonly #socket: WebSocket
  readonly #pending = new Map<number, OnReply>()
  readonly #routed = new Map<Raw, OnNotification>()
  #early: Notification[] = []
  #onClose: (() => void)[] = []
  #lastId = 0
  #alive = true

  /** Opens a socket; rejects when the upstream does not take it in time. */
  static open(route: Route, connectTimeout: number): Promise<UpstreamSocket> {
    return new Promise((resolve, reject) => {
      const socket = new WebSocket(route.ws ?? '', {
        headers: route.headers,
        handshakeTimeout: connectTimeout,
        maxPayload: MAX_MESSAGE,
        perMessageDeflate: false,
        followRedirects: false,
      })
      socket.once('open', () => {
        resolve(new UpstreamSocket(route.id, socket))
      })
      // The error itself may quote the URL, which holds the operator's key.
      socket.on('error', () => {
        reject(new Error(`route ${route.id} takes no WebSocket connection`))
      })
    })
  }

  private constructor(routeId: string, socket: WebSocket) {
    this.routeId = routeId
    this.#socket = socket
    socket.on('message', (data, isBinary) => {
      if (!isBinary) this.#read(data)
    })
    socket.on('pong', () => (this.#alive = true))
    const pinging = setInterval(() => {
      this.#ping()
    }, PING_EVERY)
    socket.on('close', () => {
      clearInterval(pinging)
      this.#end()
    })
  }

  get isOpen(): boolean {
    return this.#socket.readyState === WebSocket.OPEN
  }

  /** Whether nothing is carried by it or asked over it. */
  get isIdle(): boolean {
    return this.#routed.size + this.#pending.size === 0
  }

  /** Calls `listener` once when the socket is gone, at once when it already is. */
  whenClosed(listener: () => void): void {
    if (this.isOpen) this.#onClose.push(listener)
    else listener()
  }

  readonly ask: Ask = (method, params) =>
    new Promise(resolve => {
      this.#send(method, params, resolve)
    })

  /**
   * Begins a subscription and routes its notifications to `listener`, those first that came before the reply. Resolves
   * to the upstream's id, to its error, or to null when the socket broke.
   */
  subscribe(
    method: string,
    params: Raw,
    listener: OnNotification,
  ): Promise<{ readonly id: Raw } | Reply | null> {
    return new Promise(resolve => {
      this.#send(method, params, reply => {
        if (reply?.kind !== 'result') {
          resolve(reply)
          return
        }
        const id = reply.result
        this.#routed.set(id, listener)
        const early = this.#early.filter(({ subscription }) => subscription === id)
        this.#early = this.#early.filter(({ subscription }) => subscription !== id)
        for (const notification of early) listener(notification)
        resolve({ id })
      })
    })
  }

  /** Drops what still comes for a subscription. */
  forget(id: Raw): void {
    this.#routed.delete(id)
  }

  /** Says goodbye; it counts as gone at once, so that nobody begins anything on it. */
  close(): void {
    this.#socket.close(1000)
    this.#end()
  }

  #send(method: string, params: Raw, onReply: OnReply): void {
    if (!this.isOpen) {
      onReply(null)
      return
    }
    this.#lastId += 1
    const id = this.#lastId
    const timer = setTimeout(() => {
      this.#settle(id, null)
    }, REQUEST_TIMEOUT)
    this.#pending.set(id, reply => {
      clearTimeout(timer)
      onReply(reply)
    })
    const body = `{"jsonrpc":"2.0","id":${id},"method":"${method}","params":${params}}`
    this.#socket.send(Buffer.from(body, 'latin1'), { binary: false })
  }

  #read(data: RawData): void {
    this.#alive = true
    const frame = readFrame((data as Buffer).toString('latin1'))
    if (frame === null) return
    if (frame.kind === 'reply') this.#settle(frame.id, frame.reply)
    else {
      const listener = this.#routed.get(frame.subscription)
      if (listener !== undefined) listener(frame)
      else if (this.#early.length < MAX_EARLY && this.#pending.size > 0) this.#early.push(frame)
    }
  }

  #settle(id: number, reply: Reply | null): void {
    const onReply = this.#pending.get(id)
    this.#pending.delete(id)
    onReply?.(reply)
    if (this.#pending.size === 0) this.#early = []
  }

  #ping(): void {
    if (!this.#alive) {
      this.#socket.terminate()
      return
    }
    this.#alive = false
    this.#socket.ping()
  }

  #end(): void {
    for (const id of [...this.#pending.keys()]) this.#settle(id, null)
    for (const listener of this.#onClose.splice(0)) listener()
  }
}
