/** One request through one upstream: http-proxy-3 carries it, and what breaks on the way is told here. */
import { connectFault } from '../cause.ts'
import type { Agent, ClientRequest, IncomingMessage } from 'node:http'
import type { Socket } from 'node:net'
import { Stream } from 'node:stream'
import { createProxyServer } from 'http-proxy-3'
import { BodyError, StreamedBody } from '../streamed-body.ts'
import { forwardedHeaders, returnedHeaders } from './headers.ts'
import type { Refusal } from '../../../refusal/refusal.ts'
import type { ExchangeFailure, ProxiedRequest, ReplyHead } from './proxied-request.ts'

const EVENT_STREAM = /^text\/event-stream\s*(;|$)/i

/** Where a route's requests exchange to. */
export interface ProxyTarget {
  readonly target: URL
  /** What stands before each path, and after its `?`. */
  readonly path: string
  readonly query: string
  /** The operator's own headers; they win over the client's. */
  readonly headers: Readonly<Record<string, string>>
  readonly agent: Agent
  readonly tls: boolean
  /** Milliseconds. */
  readonly connectTimeout: number
}

/** Hands http-proxy-3's request to us, who pour the body into it once there is a connection: so what nobody was sent can go elsewhere. */
class BodySource extends Stream {
  readonly #onPipe: (upstream: ClientRequest) => void

  constructor(onPipe: (upstream: ClientRequest) => void) {
    super()
    this.#onPipe = onPipe
  }

  override pipe<T extends NodeJS.WritableStream>(upstream: T): T {
    this.#onPipe(upstream as unknown as ClientRequest)
    return upstream
  }
}

/** Sends the request on; resolves with the head of the reply or the failure. `timeout` in milliseconds until the head. */
export function exchange(
  proxied: ProxiedRequest,
  to: ProxyTarget,
  timeout: number,
): Promise<ReplyHead | ExchangeFailure> {
  return new Promise(resolve => {
    new ProxyExchange(proxied, to, resolve).begin(timeout)
  })
}

class ProxyExchange {
  readonly #proxied: ProxiedRequest
  readonly #target: ProxyTarget
  readonly #resolve: (result: ReplyHead | ExchangeFailure) => void
  #upstream: ClientRequest | null = null
  /** That of the reply, once its head has come. */
  #body: StreamedBody | null = null
  #headTimer: NodeJS.Timeout | undefined
  #connectTimer: NodeJS.Timeout | undefined
  #sent = false
  #done = false
  readonly #onGone = (): void => {
    if (!this.#proxied.response.writableFinished) this.#break('aborted')
  }

  constructor(
    proxied: ProxiedRequest,
    to: ProxyTarget,
    resolve: (result: ReplyHead | ExchangeFailure) => void,
  ) {
    this.#proxied = proxied
    this.#target = to
    this.#resolve = resolve
  }

  begin(timeout: number): void {
    const { request, response, verb, target } = this.#proxied
    const { agent, headers, path, query } = this.#target
    if (response.destroyed) {
      this.#break('aborted')
      return
    }
    this.#headTimer = this.#later('timeout', timeout)
    this.#connectTimer = this.#later('unreachable', this.#target.connectTimeout)
    response.once('close', this.#onGone)
    // With `toProxy` the path is sent as it stands here; otherwise it would be parsed as a URL and written anew.
    const options = {
      target: this.#target.target,
      toProxy: true,
      prependPath: false,
      changeOrigin: true,
      agent,
      headers,
      selfHandleResponse: true,
      buffer: new BodySource(upstream => {
        this.#connect(upstream)
      }),
    }
    const proxy = createProxyServer()
    proxy.on('proxyRes', reply => {
      this.#arrive(reply)
    })
    // What http-proxy-3 reads of a request, and nothing else of it.
    const seen = {
      method: verb,
      url: path + target + (query === '' ? '' : `${target.includes('?') ? '&' : '?'}${query}`),
      headers: forwardedHeaders(request.headers),
      httpVersionMajor: 1,
      socket: request.socket,
      on: request.on.bind(request),
    } as unknown as IncomingMessage
    if (this.#proxied.bodyLimit === null) delete seen.headers['content-length']
    proxy.web(seen, response, options, (error: Error & { code?: string }) => {
      if (error.code?.startsWith('HPE_') === true) this.#break('garbage')
      else if (this.#sent) this.#break('reset')
      else this.#break('unreachable', undefined, connectFault(error))
    })
  }

  #connect(upstream: ClientRequest): void {
    this.#upstream = upstream
    upstream.on('close', () => {
      this.#break(this.#sent ? 'reset' : 'unreachable')
    })
    upstream.on('socket', (socket: Socket) => {
      const ready = (): void => {
        if (!this.#done) this.#pour(upstream)
      }
      if (!socket.connecting) ready()
      else socket.once(this.#target.tls ? 'secureConnect' : 'connect', ready)
    })
  }

  #pour(upstream: ClientRequest): void {
    clearTimeout(this.#connectTimer)
    this.#sent = true
    const { request, bodyLimit } = this.#proxied
    if (bodyLimit === null) {
      upstream.end()
      return
    }
    let size = 0
    const end = (how: ExchangeFailure['how'], refusal?: Refusal): void => {
      this.#break(how, refusal)
      // The reply may have begun already.
      this.#body?.destroy()
      upstream.destroy()
    }
    const check = (): void => {
      const refusal = this.#proxied.refusal()
      if (refusal !== null) end('denied', refusal)
    }
    request.on('data', (chunk: Buffer) => {
      size += chunk.length
      if (size > bodyLimit) end('body_too_large')
      else check()
    })
    request.on('end', check)
    request.pipe(upstream)
  }

  #arrive(reply: IncomingMessage): void {
    const endless = EVENT_STREAM.test(reply.headers['content-type'] ?? '')
    const body = new StreamedBody(reply, { pieces: () => allOf(reply), endless })
    if (this.#done) {
      body.destroy()
      return
    }
    this.#body = body
    const status = reply.statusCode ?? 0
    const headers = returnedHeaders(status, reply.headers)
    this.#finish({ kind: 'head', status, headers, endless, reply, body })
  }

  #later(how: 'timeout' | 'unreachable', ms: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#break(how, undefined, how === 'unreachable' ? 'timeout' : null)
    }, ms)
  }

  #break(how: ExchangeFailure['how'], refusal?: Refusal, cause: string | null = null): void {
    if (this.#done) return
    this.#finish({
      kind: 'failure',
      how,
      sent: this.#sent,
      ...(refusal && { refusal }),
      ...(cause && { cause }),
    })
    const { request } = this.#proxied
    if (this.#upstream === null) return
    request.unpipe(this.#upstream)
    this.#upstream.destroy()
  }

  #finish(result: ReplyHead | ExchangeFailure): void {
    this.#done = true
    clearTimeout(this.#headTimer)
    clearTimeout(this.#connectTimer)
    this.#proxied.response.off('close', this.#onGone)
    this.#resolve(result)
  }
}

async function* allOf(reply: IncomingMessage): AsyncGenerator<Buffer> {
  yield* reply as AsyncIterable<Buffer>
  if (!reply.complete) throw new BodyError('reset')
}
