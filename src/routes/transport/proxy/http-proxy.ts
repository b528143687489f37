/** A route's way for verbatim HTTP: its kept connections, and how long a reply may say nothing. */
import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { ClientRequest, IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { setImmediate as turnOfLoop } from 'node:timers/promises'
import { trimSlashes } from '../../../net/http-path.ts'
import type { Route } from '../../../snapshot/types.ts'
import { operatorHeaders } from '../request-target.ts'
import { BodyError } from '../streamed-body.ts'
import type { ProxyTarget } from './exchange.ts'
import type { ExchangeFailure, ProxiedRequest, ReplyHead } from './proxied-request.ts'

/** Idle milliseconds after which a connection is closed: below the 5 s that common servers keep. */
const IDLE = 4_000
/** Milliseconds that a reply which is no event stream may say nothing. */
const SILENCE = 60_000

/** Opened with the first call of its route. */
export class HttpProxy {
  readonly #target: ProxyTarget
  readonly #silence: number

  /** Times in milliseconds; `silence` is how long a reply may say nothing. */
  constructor(route: Pick<Route, 'http' | 'headers'>, connectTimeout: number, silence = SILENCE) {
    this.#silence = silence
    // http-proxy-3 would change to an engine of its own that follows redirects.
    delete process.env['FORCE_FETCH_PATH']
    const url = new URL(route.http)
    const tls = url.protocol === 'https:'
    const options = { keepAlive: true, timeout: IDLE, scheduling: 'lifo' } as const
    this.#target = {
      target: new URL(url.origin),
      path: trimSlashes(url.pathname),
      query: url.search.slice(1),
      headers: operatorHeaders(route),
      agent: watchIdle(tls ? new TlsAgent(options) : new Agent(options)),
      tls,
      connectTimeout,
    }
  }

  /** Sends a request; `timeout` in milliseconds until the head of the reply. `traceparent` null says nothing of a trace. */
  async send(
    proxied: ProxiedRequest,
    timeout: number,
    traceparent: string | null = null,
  ): Promise<ReplyHead | ExchangeFailure> {
    // Here, so that http-proxy-3 is loaded where such calls come, and no start waits for it.
    const { exchange } = await import('./exchange.ts')
    // What has come over a kept connection, or its end, is read before it is used: that may take until the second turn.
    for (let i = 0; i < 2 && Object.keys(this.#target.agent.freeSockets).length > 0; i += 1)
      await turnOfLoop()
    const own = this.#target
    const target = traceparent === null ? own : { ...own, headers: { ...own.headers, traceparent } }
    const result = await exchange(proxied, target, timeout)
    if (result.kind === 'head' && !result.endless) boundIdleReplies(result.reply, this.#silence)
    return result
  }

  /** Cuts every connection. */
  destroy(): void {
    this.#target.agent.destroy()
  }
}

/** Ends kept connections over which anything comes before they are used again: it would be taken for the reply to whoever asks next. */
function watchIdle(agent: Agent): Agent {
  // What its type does not say: whether the connection is kept.
  const keep = agent.keepSocketAlive.bind(agent) as (socket: Duplex) => boolean
  const reuse = agent.reuseSocket.bind(agent)
  return Object.assign(agent, {
    keepSocketAlive: (socket: Duplex): boolean => keep(socket) && socket.on('data', endUnasked) === socket,
    reuseSocket: (socket: Duplex, request: ClientRequest): void => {
      socket.off('data', endUnasked)
      reuse(socket, request)
    },
  })
}

function endUnasked(this: Duplex): void {
  this.destroy()
  // Until it is closed, in a later turn, the agent would use it.
  this.emit('agentRemove')
}

function boundIdleReplies(reply: IncomingMessage, ms: number): void {
  const { socket } = reply
  let wasUnread = false
  const onTimeout = (): void => {
    // What waits for its client to read is not the upstream's silence, which begins when it has been read.
    const isUnread = reply.readableLength > 0
    if (isUnread || wasUnread) socket.setTimeout(ms)
    else reply.destroy(new BodyError('timeout'))
    wasUnread = isUnread
  }
  socket.setTimeout(ms)
  socket.on('timeout', onTimeout)
  reply.once('close', () => {
    socket.off('timeout', onTimeout)
  })
}
