import { EventEmitter, once } from 'node:events'
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './teardown.ts'
import { within } from './until.ts'

/** One request as it arrived. */
export interface HttpNodeRequest {
  readonly verb: string
  /** Path and query, as they came. */
  readonly url: string
  readonly headers: IncomingHttpHeaders
  /** Each header line, as it came. */
  readonly rawHeaders: readonly string[]
  /** What had come of the body when the answer was due. */
  readonly text: string
}

/** Answers one request; `incoming` has been read to its end unless the node takes requests unread. */
export type HttpHandler = (
  request: HttpNodeRequest,
  response: ServerResponse,
  incoming: IncomingMessage,
) => void | Promise<void>

/** What plays the operator's secrets in a route's URL. */
const SECRET_PATH = '/v3/operator-secret'
const SECRET_QUERY = 'key=operator-secret-2'

/** A server of a plain HTTP API on a real socket that answers by a script and remembers every request. */
export class ScriptedHttpNode {
  /** Everything that arrived, our own question for sync state apart. */
  readonly requests: HttpNodeRequest[] = []
  /** How many looks at the sync state came. */
  looks = 0
  /** What is told of the sync state; null is 404. */
  sync: { readonly head: number; readonly syncing: boolean } | null = { head: 1000, syncing: false }
  /** Requests whose connection broke before their answer was all sent. */
  broken = 0
  /** Hands requests to their handlers before their bodies have come. */
  unread = false
  readonly #script = new Map<string, HttpHandler>()
  readonly #events = new EventEmitter().setMaxListeners(0)
  readonly #server = createServer((incoming, response) => {
    this.#serve(incoming, response).catch(() => response.destroy())
  })
  #port = 0
  #otherwise: HttpHandler = (_, response) => {
    response.writeHead(200, { 'content-type': 'application/json' }).end('{"data":"ok"}')
  }

  constructor() {
    this.#server.keepAliveTimeout = 60_000
  }

  /** The port it listens on, also while it is down. */
  get port(): number {
    return this.#port
  }

  /** The URL for a route. */
  get url(): string {
    return `http://127.0.0.1:${this.port}${SECRET_PATH}?${SECRET_QUERY}`
  }

  /** Connections open now. */
  async connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.#server.getConnections((error, count) => {
        if (error === null) resolve(count)
        else reject(error)
      })
    })
  }

  /** Scripts the answer to one path, whatever the verb. */
  on(path: string, handler: HttpHandler): this {
    this.#script.set(path, handler)
    return this
  }

  /** Scripts the answer to every path that has no script. */
  otherwise(handler: HttpHandler): this {
    this.#otherwise = handler
    return this
  }

  /** Requests for one path, whatever their query. */
  asked(path: string): readonly HttpNodeRequest[] {
    return this.requests.filter(({ url }) => pathOf(url) === path)
  }

  /** Resolves when a path was asked for so many times. */
  async arrived(path: string, times = 1): Promise<void> {
    await this.#until(`${times} × ${path}`, () => this.asked(path).length >= times)
  }

  /** Resolves when so many answers could not be sent to their end. */
  async broke(times: number, deadlineMs?: number): Promise<void> {
    await this.#until(`${times} broken answers`, () => this.broken >= times, deadlineMs)
  }

  async listen(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Stops at once, cutting every connection; its port refuses from then on. */
  async close(): Promise<void> {
    if (!this.#server.listening) return
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  async #until(what: string, isSo: () => boolean, deadlineMs?: number): Promise<void> {
    const wait = async () => {
      while (!isSo()) await once(this.#events, 'change')
    }
    await within(what, wait(), deadlineMs)
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    if (!this.unread) for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    const { method: verb = '', url = '', headers, rawHeaders } = incoming
    const request = { verb, url, headers, rawHeaders, text: Buffer.concat(chunks).toString() }
    const path = pathOf(url)
    if (path === '/eth/v1/node/syncing' && !this.#script.has(path)) {
      this.looks += 1
      this.#events.emit('change')
      tellSync(this.sync, response)
      return
    }
    this.requests.push(request)
    response.on('close', () => {
      if (!response.writableFinished) this.broken += 1
      this.#events.emit('change')
    })
    this.#events.emit('change')
    await (this.#script.get(path) ?? this.#otherwise)(request, response, incoming)
  }
}

function tellSync(sync: ScriptedHttpNode['sync'], response: ServerResponse): void {
  response.setHeader('content-type', 'application/json')
  if (sync === null) {
    response.writeHead(404).end('{"code":404,"message":"not found"}')
    return
  }
  const data = { head_slot: String(sync.head), sync_distance: '0', is_syncing: sync.syncing }
  response.writeHead(200).end(JSON.stringify({ data }))
}

function pathOf(url: string): string {
  const path = url.split('?', 1)[0] ?? ''
  return path.startsWith(SECRET_PATH) ? path.slice(SECRET_PATH.length) : path
}

/** Resolves when a response takes more, or nobody takes it any longer. */
export async function drained(response: ServerResponse): Promise<void> {
  const over = new AbortController()
  const { signal } = over
  const waits = [once(response, 'drain', { signal }), once(response, 'close', { signal })]
  await Promise.race(waits)
  over.abort()
  await Promise.allSettled(waits)
}

/** What a path and query are seen as at the node. */
export function seenAs(target: string): string {
  return `${SECRET_PATH}${target}${target.includes('?') ? '&' : '?'}${SECRET_QUERY}`
}

/** Starts a scripted server that is stopped with the test. */
export async function startHttpNode(t: Teardown): Promise<ScriptedHttpNode> {
  const node = new ScriptedHttpNode()
  await node.listen()
  t.teardown(() => node.close())
  return node
}
