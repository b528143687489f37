import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http'
import { EventEmitter, once } from 'node:events'
import type { AddressInfo } from 'node:net'
import { result, type Handler } from './node-replies.ts'
import { rawMember } from './raw-json.ts'
import type { Teardown } from './teardown.ts'
import { within } from './until.ts'

/** One request as it arrived at the node. */
export interface NodeRequest {
  /** Of the JSON-RPC call; null when the body is no call. */
  readonly method: string | null
  /** The raw id slice. */
  readonly id: string
  /** The raw params slice; empty when absent. */
  readonly params: string
  /** The whole body. */
  readonly text: string
  readonly headers: IncomingHttpHeaders
  readonly verb: string
  readonly url: string
  /** When it was there, in milliseconds of the monotonic clock. */
  readonly at: number
}

/** What a gateway may ask on its own account: identity, head, sync state. */
const housekeeping = new Set([
  'eth_chainId',
  'net_version',
  'eth_blockNumber',
  'eth_syncing',
  'eth_getBlockByNumber',
  'getSlot',
  'getBlockHeight',
  'getHealth',
  'getGenesisHash',
  'getVersion',
  'getFirstAvailableBlock',
  'minimumLedgerSlot',
])

/** How a scripted node presents itself. */
export interface NodeOptions {
  readonly chainId?: number
  /** Head block or slot. */
  readonly head?: number
  readonly genesisHash?: string
  /** The oldest slot that it keeps. */
  readonly firstSlot?: number
}

/** A node on a real socket that answers by a script and remembers every request. */
export class ScriptedNode {
  /** Everything that arrived. */
  readonly requests: NodeRequest[] = []
  /** The most calls that were being answered at one moment, housekeeping apart. */
  peak = 0
  head: number
  readonly #chainId: number
  readonly #genesisHash: string
  readonly #firstSlot: number
  readonly #script = new Map<string, Handler>()
  readonly #arrivals = new EventEmitter().setMaxListeners(0)
  protected readonly server = createServer((request, response) => {
    this.#serve(request, response).catch(() => response.destroy())
  })
  #port = 0
  #otherwise: Handler = result('"ok"')
  #inFlight = 0

  constructor({ chainId = 1, head = 0x1000, genesisHash = '1'.repeat(32), firstSlot = 0 }: NodeOptions) {
    this.head = head
    this.#chainId = chainId
    this.#genesisHash = genesisHash
    this.#firstSlot = firstSlot
    this.server.keepAliveTimeout = 60_000
  }

  /** The port it listens on, also while it is down. */
  get port(): number {
    return this.#port
  }

  /** The URL for a route; its path plays the operator's secret provider key. */
  get url(): string {
    return `http://127.0.0.1:${this.port}/v3/operator-secret?key=operator-secret-2`
  }

  /** Calls of clients that arrived: everything but housekeeping. */
  get calls(): readonly NodeRequest[] {
    return this.requests.filter(({ method }) => method === null || !housekeeping.has(method))
  }

  /** The last request that called it. */
  last(method: string): NodeRequest {
    const found = this.requests.findLast(each => each.method === method)
    if (found === undefined) throw new Error(`${method} has not arrived`)
    return found
  }

  /** How often one method arrived. */
  count(method: string): number {
    return this.requests.filter(request => request.method === method).length
  }

  /** Scripts the answer to one method. */
  on(method: string, handler: Handler): this {
    this.#script.set(method, handler)
    return this
  }

  /** What answers one method by script now. */
  handler(method: string): Handler | undefined {
    return this.#script.get(method)
  }

  /** Scripts the answer to every method that has no script; `"ok"` until then. */
  otherwise(handler: Handler): this {
    this.#otherwise = handler
    return this
  }

  /** How many connections of any kind are open. */
  get connections(): Promise<number> {
    return new Promise((resolve, reject) => {
      this.server.getConnections((error, count) => {
        if (error === null) resolve(count)
        else reject(error)
      })
    })
  }

  /** Resolves when a method has arrived so many times. */
  async arrived(method: string, times = 1): Promise<void> {
    const enough = async () => {
      while (this.count(method) < times) await once(this.#arrivals, 'request')
    }
    await within(`${times} × ${method} at the node (${this.count(method)} arrived)`, enough())
  }

  /** Binds a free port of 127.0.0.1, or the port it had before. */
  async listen(): Promise<void> {
    this.server.listen(this.#port, '127.0.0.1')
    await once(this.server, 'listening')
    this.#port = (this.server.address() as AddressInfo).port
  }

  /** Stops at once, cutting every connection; its port refuses from then on. */
  async close(): Promise<void> {
    if (!this.server.listening) return
    const closed = once(this.server, 'close')
    this.server.close()
    this.server.closeAllConnections()
    await closed
  }

  async #serve(incoming: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = []
    for await (const chunk of incoming as AsyncIterable<Buffer>) chunks.push(chunk)
    const request = readRequest(incoming, Buffer.concat(chunks).toString())
    this.requests.push(request)
    const counted = request.method === null || !housekeeping.has(request.method)
    if (counted) this.peak = Math.max(this.peak, ++this.#inFlight)
    response.on('close', () => {
      if (counted) this.#inFlight--
    })
    this.#arrivals.emit('request')
    await this.answer(request, response)
  }

  /** Answers a request as its method is scripted. */
  async answer(request: NodeRequest, response: ServerResponse): Promise<void> {
    const scripted = request.method === null ? undefined : this.#script.get(request.method)
    await (scripted ?? this.#housekeep(request) ?? this.#otherwise)(request, response)
  }

  #housekeep({ method, params }: NodeRequest): Handler | undefined {
    const hex = `"0x${this.head.toString(16)}"`
    switch (method) {
      case 'eth_chainId':
        return result(`"0x${this.#chainId.toString(16)}"`)
      case 'net_version':
        return result(`"${this.#chainId}"`)
      case 'eth_blockNumber':
        return result(hex)
      case 'eth_syncing':
        return result('false')
      case 'eth_getBlockByNumber':
        return result(
          `{"number":${/"0x[0-9a-f]+"/.exec(params)?.[0] ?? hex},"hash":"0x${'1'.repeat(64)}","timestamp":"0x68000000"}`,
        )
      case 'getSlot':
      case 'getBlockHeight':
        return result(String(this.head))
      case 'getHealth':
        return result('"ok"')
      case 'getGenesisHash':
        return result(`"${this.#genesisHash}"`)
      case 'getFirstAvailableBlock':
      case 'minimumLedgerSlot':
        return result(String(this.#firstSlot))
      case 'getVersion':
        return result('{"solana-core":"2.1.0","feature-set":1}')
      default:
        return undefined
    }
  }
}

function readRequest(incoming: IncomingMessage, text: string): NodeRequest {
  const { headers } = incoming
  const place = { text, headers, verb: incoming.method ?? '', url: incoming.url ?? '', at: performance.now() }
  try {
    const method = JSON.parse(rawMember(text, 'method') ?? 'null') as unknown
    return {
      ...place,
      method: typeof method === 'string' ? method : null,
      id: rawMember(text, 'id') ?? 'null',
      params: rawMember(text, 'params') ?? '',
    }
  } catch {
    return { ...place, method: null, id: 'null', params: '' }
  }
}

/** Starts a scripted node that is stopped with the test. */
export async function startNode(t: Teardown, options: NodeOptions = {}): Promise<ScriptedNode> {
  const node = new ScriptedNode(options)
  await node.listen()
  t.teardown(() => node.close())
  return node
}
