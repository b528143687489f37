import { EventEmitter } from 'node:events'
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http'
import { WebSocket, WebSocketServer } from 'ws'
import { send } from './http.ts'
import { result, type Handler } from './node-replies.ts'
import { rawMember } from './raw-json.ts'
import type { ScriptedChain } from './scripted-chain.ts'
import { hex, matches, type Block, type ChainLog, type LogFilter } from './scripted-chain.ts'
import { ScriptedNode, type NodeOptions } from './scripted-node.ts'
import type { Teardown } from './teardown.ts'
import { within } from './until.ts'

/** One call as it arrived over a socket. */
export interface SocketRequest {
  readonly method: string
  /** The raw id slice. */
  readonly id: string
  /** The raw params slice; empty when absent. */
  readonly params: string
  /** The whole frame. */
  readonly text: string
}

/** One subscription that somebody made, alive or not. */
export interface NodeSubscription {
  readonly method: string
  /** The raw params slice. */
  readonly params: string
  /** The raw id that the node gave it. */
  readonly id: string
  /** Ends when the other side unsubscribes, its socket closes, or the node says so. */
  alive: boolean
}

/**
 * What a node does about a subscribe call: take it; refuse it with a raw error object; never answer; cut the connection; take it but send a
 * notification with a raw result before the reply; take it under a raw id of the test's choice, which on one connection
 * stands for one subscription however often it is given (as Agave does for equal ones).
 */
export type SubscribeAnswer =
  | 'accept'
  | 'silence'
  | 'cut'
  | { readonly error: string }
  | { readonly before: string }
  | { readonly id: string }

interface Connection {
  readonly socket: WebSocket
  readonly subscriptions: Map<string, NodeSubscription>
  nextId: number
}

/** How a node that speaks WebSocket presents itself. */
export interface SocketNodeOptions extends NodeOptions {
  /** The blocks of an EVM node; absent: it has no block but its head. */
  readonly chain?: ScriptedChain
}

const isSubscribe = (method: string) => /^(eth_s|\w+S)ubscribe$/.test(method)
const isUnsubscribe = (method: string) => /^(eth_u|\w+U)nsubscribe$/.test(method)

/** The name under which a node sends what this method subscribed to. */
export function notificationOf(method: string): string {
  return method === 'eth_subscribe' ? 'eth_subscription' : method.replace(/Subscribe$/, 'Notification')
}

/** A scripted node that also speaks WebSocket, on the same port, and has a chain of blocks where a test gives it one. */
export class ScriptedSocketNode extends ScriptedNode {
  /** Every call that arrived over a socket. */
  readonly socketRequests: SocketRequest[] = []
  /** Every subscription that was ever taken. */
  readonly subscriptions: NodeSubscription[] = []
  /** The path and headers of every upgrade that was asked for. */
  readonly upgrades: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = []
  /** Whether upgrades are refused with 503. */
  refusesSockets = false
  /** Whether blocks are announced; what is mined meanwhile is never announced. */
  announces = true
  readonly #connections = new Set<Connection>()
  readonly #changes = new EventEmitter().setMaxListeners(0)
  readonly #sockets = new WebSocketServer({ noServer: true, perMessageDeflate: false })
  readonly #chain: ScriptedChain | undefined
  #answer: (request: SocketRequest) => SubscribeAnswer | Promise<SubscribeAnswer> = () => 'accept'
  #beforeEnd: () => unknown = () => undefined
  #stalled = false

  constructor(options: SocketNodeOptions) {
    super(options)
    this.#chain = options.chain
    if (options.chain !== undefined) this.#playChain(options.chain)
    this.server.on('upgrade', (request: IncomingMessage, socket, head) => {
      socket.on('error', () => undefined)
      this.upgrades.push({ url: request.url ?? '', headers: request.headers })
      if (this.refusesSockets) return void socket.end('HTTP/1.1 503 Service Unavailable\r\n\r\n')
      this.#sockets.handleUpgrade(request, socket, head, ws => {
        this.#connected(ws)
      })
    })
  }

  /** The WebSocket URL for a route; its path plays the operator's secret provider key. */
  get wsUrl(): string {
    return `ws://127.0.0.1:${this.port}/v3/operator-secret-ws?key=operator-secret-2`
  }

  /** How many sockets are open. */
  get sockets(): number {
    return this.#connections.size
  }

  /** The subscriptions that live now, all of them or those of a method and a first param. */
  live(method?: string, first?: string): readonly NodeSubscription[] {
    return this.subscriptions.filter(
      one =>
        one.alive &&
        (method === undefined || one.method === method) &&
        (first === undefined || JSON.parse(one.params)[0] === first),
    )
  }

  /** Resolves when something about sockets or subscriptions has become true. */
  async when(what: string, probe: () => boolean, deadlineMs?: number): Promise<void> {
    const seen = async () => {
      while (!probe()) await new Promise(resolve => this.#changes.once('change', resolve))
    }
    await within(`${what} at the node`, seen(), deadlineMs)
  }

  /** Decides what becomes of each subscribe call from now on. */
  onSubscribe(answer: (request: SocketRequest) => SubscribeAnswer | Promise<SubscribeAnswer>): this {
    this.#answer = answer
    return this
  }

  /** What is awaited before a subscription is ended that somebody unsubscribes from. */
  onUnsubscribe(before: () => unknown): this {
    this.#beforeEnd = before
    return this
  }

  /** Sends a notification to every live subscription of a method that `wanted` picks; gives how many. */
  push(method: string, raw: string, wanted: (one: NodeSubscription) => boolean = () => true): number {
    let sent = 0
    for (const { socket, subscriptions } of this.#connections) {
      for (const one of subscriptions.values()) {
        if (one.method !== method || !wanted(one)) continue
        socket.send(notification(one, raw))
        sent++
      }
    }
    return sent
  }

  /** As `push`, and the subscription is over with it, as one-shot subscriptions are. */
  pushLast(method: string, raw: string, wanted: (one: NodeSubscription) => boolean = () => true): number {
    const sent = this.push(method, raw, wanted)
    for (const { subscriptions } of this.#connections) {
      for (const one of subscriptions.values()) {
        if (one.method !== method || !wanted(one)) continue
        one.alive = false
        subscriptions.delete(one.id)
      }
    }
    this.#changed()
    return sent
  }

  /** Sends a frame of any kind on every socket: text as text, bytes as a binary frame. */
  sendAll(frame: string | Buffer): void {
    for (const { socket } of this.#connections) socket.send(frame)
  }

  /** Cuts every socket; new ones are taken. */
  dropSockets(): void {
    for (const { socket } of this.#connections) socket.terminate()
  }

  /** Neither reads nor writes on its sockets from now on, and answers no ping. */
  stall(): void {
    this.#stalled = true
    for (const { socket } of this.#connections) socket.pause()
  }

  override async close(): Promise<void> {
    this.dropSockets()
    await super.close()
  }

  #connected(socket: WebSocket): void {
    const connection: Connection = { socket, subscriptions: new Map(), nextId: 0 }
    this.#connections.add(connection)
    if (this.#stalled) socket.pause()
    socket.on('error', () => undefined)
    socket.on('message', data => {
      void this.#serveFrame(connection, (data as Buffer).toString())
    })
    socket.on('close', () => {
      this.#connections.delete(connection)
      for (const one of connection.subscriptions.values()) one.alive = false
      this.#changed()
    })
    this.#changed()
  }

  async #serveFrame(connection: Connection, text: string): Promise<void> {
    const { method } = JSON.parse(text) as { method: string }
    const id = rawMember(text, 'id') ?? 'null'
    const request = { method, id, params: rawMember(text, 'params') ?? '', text }
    this.socketRequests.push(request)
    this.#changed()
    const { socket } = connection
    if (isSubscribe(method)) await this.#subscribe(connection, request)
    else if (isUnsubscribe(method)) await this.#unsubscribe(connection, request)
    else await this.#serveCall(socket, text)
  }

  /** Any other call is answered as over HTTP: by that very side of this node. */
  async #serveCall(socket: WebSocket, text: string): Promise<void> {
    const reply = await send(this.port, { body: text }).catch(() => undefined)
    if (reply !== undefined) socket.send(reply.text)
  }

  async #subscribe(connection: Connection, request: SocketRequest): Promise<void> {
    const { socket, subscriptions } = connection
    const { method, params, id: callId } = request
    const decided = await this.#answer(request)
    if (decided === 'silence') return
    if (decided === 'cut') {
      socket.terminate()
      return
    }
    if (typeof decided === 'object' && 'error' in decided) {
      socket.send(answer(callId, 'error', decided.error))
      return
    }
    // Small numbers that start anew on each connection, so that the ids of different sockets are the same.
    const number = connection.nextId++
    const given = method === 'eth_subscribe' ? `"${hex(number)}"` : String(number)
    const id = typeof decided === 'object' && 'id' in decided ? decided.id : given
    const same = subscriptions.get(id)
    if (same !== undefined) same.alive = false
    const one: NodeSubscription = { method, params, id, alive: socket.readyState === WebSocket.OPEN }
    this.subscriptions.push(one)
    if (one.alive) subscriptions.set(id, one)
    if (typeof decided === 'object' && 'before' in decided) socket.send(notification(one, decided.before))
    socket.send(answer(callId, 'result', id))
    this.#changed()
  }

  async #unsubscribe(
    { socket, subscriptions }: Connection,
    { method, id, params }: SocketRequest,
  ): Promise<void> {
    await this.#beforeEnd()
    const wanted = JSON.stringify(JSON.parse(params)[0])
    const one = subscriptions.get(wanted)
    subscriptions.delete(wanted)
    if (one !== undefined) one.alive = false
    if (one !== undefined) socket.send(answer(id, 'result', 'true'))
    else socket.send(answer(id, 'error', unknownSubscription(method)))
    this.#changed()
  }

  #playChain(chain: ScriptedChain): void {
    this.on('eth_blockNumber', (...call) => {
      result(`"${hex(chain.head.number)}"`)(...call)
    })
    const block: Handler = (request, response) => {
      const [reference] = JSON.parse(request.params) as unknown[]
      return result(chain.find(reference)?.text ?? 'null')(request, response)
    }
    this.on('eth_getBlockByNumber', block).on('eth_getBlockByHash', block)
    this.on('eth_getLogs', (request, response) => {
      const [filter] = JSON.parse(request.params) as [LogFilter]
      const found = chain.logs(filter).map(log => ({ ...log, removed: false }))
      return result(JSON.stringify(found))(request, response)
    })
    chain.onMined(mined => {
      if (this.announces) this.announce(mined)
    })
    chain.onDropped(dropped => {
      if (this.announces) for (const { logs } of dropped) this.#pushLogs(logs, true)
    })
  }

  /** Sends a block's header and logs to whoever subscribed to them. */
  announce({ header, logs }: Block): void {
    this.push('eth_subscribe', header, one => JSON.parse(one.params)[0] === 'newHeads')
    this.#pushLogs(logs, false)
  }

  #pushLogs(logs: readonly ChainLog[], removed: boolean): void {
    for (const log of logs) {
      this.push('eth_subscribe', JSON.stringify({ ...log, removed }), ({ params }) => {
        const [kind, filter = {}] = JSON.parse(params) as [string, LogFilter?]
        return kind === 'logs' && matches(log, filter)
      })
    }
  }

  #changed(): void {
    this.#changes.emit('change')
  }
}

function answer(id: string, member: 'result' | 'error', raw: string): string {
  return `{"jsonrpc":"2.0","id":${id},"${member}":${raw}}`
}

function notification({ method, id }: NodeSubscription, raw: string): string {
  const name = notificationOf(method)
  return method === 'eth_subscribe'
    ? `{"jsonrpc":"2.0","method":"${name}","params":{"subscription":${id},"result":${raw}}}`
    : `{"jsonrpc":"2.0","method":"${name}","params":{"result":${raw},"subscription":${id}}}`
}

/** What a node says to an id that it does not know: as geth, as Agave. */
export function unknownSubscription(method: string): string {
  return method === 'eth_unsubscribe'
    ? '{"code":-32000,"message":"subscription not found"}'
    : '{"code":-32602,"message":"Invalid subscription id."}'
}

/** Starts a scripted node with sockets that is stopped with the test. */
export async function startSocketNode(
  t: Teardown,
  options: SocketNodeOptions = {},
): Promise<ScriptedSocketNode> {
  const node = new ScriptedSocketNode(options)
  await node.listen()
  t.teardown(() => node.close())
  return node
}
