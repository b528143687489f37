/** A route's way for verbatim HTTP: its kept connections, and how long a reply may say nothing. */
import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import type { IncomingMessage } from 'node:http'
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
      path: url.pathname.replace(/\/+$/, ''),
      query: url.search.slice(1),
      headers: operatorHeaders(route),
      agent: tls ? new TlsAgent(options) : new Agent(options),
      ...{ tls, connectTimeout },
    }
  }

  /** Sends a request; `timeout` in milliseconds until the head of the reply. */
  async send(proxied: ProxiedRequest, timeout: number): Promise<ReplyHead | ExchangeFailure> {
    // Here, so that http-proxy-3 is loaded where such calls come, and no start waits for it.
    const { exchange } = await import('./exchange.ts')
    const result = await exchange(proxied, this.#target, timeout)
    if (result.kind === 'head' && !result.endless) boundIdleReplies(result.reply, this.#silence)
    return result
  }

  /** Cuts every connection. */
  destroy(): void {
    this.#target.agent.destroy()
  }
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
