import { EventEmitter, once } from 'node:events'
import { request } from 'node:http'
import { WebSocket, type ClientOptions } from 'ws'
import { message, type Access } from './access.ts'
import type { HttpReply } from './http.ts'
import type { Teardown } from './teardown.ts'
import { within } from './until.ts'

/** How a socket ended: 1006 stands for no close frame at all. */
export interface Closed {
  readonly code: number
  readonly reason: string
}

/** A client's socket, with every frame it got. */
export class SocketClient {
  /** Every text frame, in order. */
  readonly frames: string[] = []
  /** How it ends, sooner or later. */
  readonly closed: Promise<Closed>
  readonly socket: WebSocket
  readonly #changes = new EventEmitter().setMaxListeners(0)
  readonly #replies: any[] = []
  readonly #notifications = new Map<string, any[]>()
  #read = 0
  #ids = 0
  #over: Closed | undefined

  constructor(socket: WebSocket) {
    this.socket = socket
    socket.on('error', () => undefined)
    socket.on('message', (data, isBinary) => {
      const frame = isBinary ? '"a binary frame"' : (data as Buffer).toString()
      this.frames.push(frame)
      this.#sort(JSON.parse(frame))
      this.#changes.emit('change')
    })
    this.closed = new Promise(resolve => {
      socket.once('close', (code, reason) => {
        this.#over = { code, reason: String(reason) }
        this.#changes.emit('change')
        resolve(this.#over)
      })
    })
  }

  /** How it ended; undefined while it is open. */
  get over(): Closed | undefined {
    return this.#over
  }

  /** Sends one text frame as it is. */
  send(text: string | Buffer): void {
    this.socket.send(text, { binary: false })
  }

  /** Sends text frames in one write, so that they come in one turn of the reader. */
  sendTogether(texts: readonly string[]): void {
    const connection = (this.socket as unknown as { _socket: { cork(): void; uncork(): void } })._socket
    connection.cork()
    for (const text of texts) this.send(text)
    connection.uncork()
  }

  /** The next frame that `next` has not given yet. */
  async next(): Promise<string> {
    await this.when('another frame', () => this.frames.length > this.#read)
    return this.frames[this.#read++]!
  }

  /** Sends one text frame and gives the first frame that comes after it. */
  async exchange(text: string | Buffer): Promise<string> {
    this.#read = this.frames.length
    this.send(text)
    return this.next()
  }

  /** Makes one call and gives the parsed reply, whatever else comes in between. */
  async call(method: string, params: unknown = []): Promise<any> {
    const id = `call ${++this.#ids}`
    this.send(message(method, params, id))
    return this.reply(JSON.stringify(id))
  }

  /** The parsed reply to the call with this raw id. */
  async reply(id: string): Promise<any> {
    let at = 0
    let found: any
    await this.when(`the reply to ${id}`, () => {
      for (; found === undefined && at < this.#replies.length; at++)
        if (JSON.stringify(this.#replies[at].id) === id) found = this.#replies[at]
      return found !== undefined
    })
    return found
  }

  /** Subscribes, which must succeed, and gives the raw id of the subscription. */
  async subscribe(method: string, params: unknown = []): Promise<string> {
    const reply = await this.call(method, params)
    if (reply.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(reply)}`)
    return JSON.stringify(reply.result)
  }

  /** The parsed results of the notifications of one subscription so far, in order. */
  notifications(subscription: string): readonly any[] {
    const found: readonly any[] = this.#notifications.get(subscription) ?? []
    return found
  }

  /** The parsed results of the first so many notifications of one subscription. */
  async notified(subscription: string, times: number): Promise<readonly any[]> {
    const counted = () => this.notifications(subscription).length
    await this.when(`${times} notifications of ${subscription}`, () => counted() >= times)
    return this.notifications(subscription)
  }

  /** Resolves when frames have made something true; rejects when the socket ends without that. */
  async when(what: string, probe: () => boolean, deadlineMs?: number): Promise<void> {
    const seen = async () => {
      while (!probe()) {
        if (this.#over !== undefined)
          throw new Error(`closed with ${this.#over.code} ${this.#over.reason} before ${what}`)
        await new Promise(resolve => this.#changes.once('change', resolve))
      }
    }
    await within(what, seen(), deadlineMs).catch((error: unknown) => {
      throw new Error(`${String(error)}; the last frames: ${this.frames.slice(-3).join(' ').slice(0, 900)}`)
    })
  }

  /** How the socket was ended by the other side, within a deadline. */
  async closedBy(what: string, deadlineMs?: number): Promise<Closed> {
    return within(`the end of a socket: ${what}`, this.closed, deadlineMs)
  }

  /** Closes it with a handshake and awaits that. */
  async close(): Promise<void> {
    this.socket.close()
    await this.closed
  }

  #sort(frame: any): void {
    if (frame?.method === undefined) return void this.#replies.push(frame ?? {})
    const subscription = JSON.stringify(frame.params.subscription)
    const own = this.#notifications.get(subscription) ?? []
    this.#notifications.set(subscription, own)
    own.push(frame.params.result)
  }
}

/** The URL of a way in for a WebSocket client, in the path form. */
export function socketUrl({ gateway, path }: Access): string {
  return `ws://127.0.0.1:${gateway.port}${path}`
}

/** Opens a socket on a URL, or rejects with the status of the refusal; it ends with the test. */
export async function openClient(
  t: Teardown,
  to: Access | string,
  options: ClientOptions = {},
): Promise<SocketClient> {
  const url = typeof to === 'string' ? to : socketUrl(to)
  const socket = new WebSocket(url, { perMessageDeflate: false, ...options })
  const client = new SocketClient(socket)
  t.teardown(() => {
    socket.terminate()
  })
  await within('a socket opens', once(socket, 'open'))
  return client
}

/** What a client says who wants a WebSocket. */
export const upgradeHeaders = {
  connection: 'Upgrade',
  upgrade: 'websocket',
  'sec-websocket-version': '13',
  'sec-websocket-key': 'dGhlIHNhbXBsZSBub25jZQ==',
} as const

/** Asks for a WebSocket and gives the whole HTTP reply; one with status 101 is cut off at once. */
export async function askUpgrade(
  port: number,
  path: string,
  headers: Readonly<Record<string, string | undefined>> = {},
): Promise<HttpReply> {
  const wanted: Record<string, string> = {}
  const all: Record<string, string | undefined> = { ...upgradeHeaders, ...headers }
  for (const [name, value] of Object.entries(all)) if (value !== undefined) wanted[name] = value
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method: 'GET', agent: false, headers: wanted })
    sent.on('error', reject)
    sent.on('upgrade', (response, socket) => {
      socket.on('error', () => undefined)
      socket.destroy()
      resolve({ status: response.statusCode ?? 0, headers: response.headers, text: '' })
    })
    sent.on('response', response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('end', () => {
        const text = Buffer.concat(chunks).toString()
        resolve({ status: response.statusCode ?? 0, headers: response.headers, text })
      })
    })
    sent.end()
  })
}
