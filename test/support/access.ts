import { setTimeout as pause } from 'node:timers/promises'
import type { Gateway } from './gateway.ts'
import type { HttpOptions, HttpReply } from './http.ts'

/** What an endpoint has been charged. */
export interface Usage {
  /** Units: `requestCount`. */
  readonly requests: number
  /** Charged calls: `callCount`. */
  readonly calls: number
}

/** One JSON-RPC call as text. */
export function message(method: string, params: unknown = [], id: unknown = 1): string {
  return JSON.stringify({ jsonrpc: '2.0', id, method, params })
}

/** A way in: one key on one network of a gateway, in the path form of the URL. */
export class Access {
  constructor(
    readonly gateway: Gateway,
    readonly slug: string,
    readonly key: string,
    readonly endpointId = '',
    readonly accountId = '',
  ) {}

  /** The path on any host that is no network's own. */
  get path(): string {
    return `/${this.slug}/v1/rpc/${this.key}`
  }

  /** The URL for a client library. */
  get url(): string {
    return this.gateway.url + this.path
  }

  /** The same key used elsewhere. */
  on(slug: string): Access {
    return new Access(this.gateway, slug, this.key, this.endpointId, this.accountId)
  }

  /** Posts a body as it is. */
  async post(body: string | Buffer, options: HttpOptions = {}): Promise<HttpReply> {
    return this.gateway.send({ path: this.path, body, ...options })
  }

  /** Makes one call and gives the parsed reply. */
  async call(method: string, params: unknown = []): Promise<any> {
    return JSON.parse((await this.post(message(method, params))).text)
  }

  /** Makes one management call, waiting as told when its own rate is spent, and gives the parsed reply. */
  async manage(method: string, params: unknown = []): Promise<any> {
    for (;;) {
      const reply = await this.call(method, params)
      if (reply.error?.data?.reason !== 'rate_limited') return reply
      await pause(reply.error.data.retryAfterMs)
    }
  }

  /** Makes one management call that must succeed, and gives its result. */
  async managed(method: string, params: unknown = []): Promise<any> {
    const reply = await this.manage(method, params)
    if (reply.result === undefined) throw new Error(`${method} failed: ${JSON.stringify(reply)}`)
    return reply.result
  }

  /** Creates one more endpoint of the account and gives the way in. */
  async another(slug: string): Promise<Access> {
    const { endpointId, apiKey } = await this.managed('service_createEndpoint', [{ chain: slug }])
    return new Access(this.gateway, slug, apiKey, endpointId, this.accountId)
  }

  /** What this endpoint has been charged; `through` asks with another key of the account. */
  async usage(through: Access = this): Promise<Usage> {
    const { endpoints } = await through.managed('service_listEndpoints')
    const own = endpoints.find((endpoint: any) => endpoint.apiKey === this.key)
    return { requests: own.requestCount, calls: own.callCount }
  }
}
