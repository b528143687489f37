import type { Gateway } from '../../support/gateway.ts'
import type { HttpOptions, HttpReply } from '../../support/http.ts'

/** A browser as far as the gateway can see: it keeps its cookie and says where its requests come from. */
export class Visitor {
  cookie = ''

  constructor(
    readonly gateway: Gateway,
    /** Sent with every request, such as the address that a proxy tells. */
    readonly headers: Readonly<Record<string, string>> = {},
  ) {}

  /** One request of the dashboard's own page, unless the headers say otherwise. */
  async send(method: string, path: string, options: HttpOptions = {}): Promise<HttpReply> {
    const reply = await this.gateway.send({
      method,
      path,
      ...options,
      headers: {
        'sec-fetch-site': 'same-origin',
        ...this.headers,
        ...(this.cookie === '' ? {} : { cookie: this.cookie }),
        ...options.headers,
      },
    })
    const set = reply.headers['set-cookie']?.[0]
    if (set !== undefined) this.cookie = set.split(';', 1)[0]!
    return reply
  }

  /** Tries to sign in. */
  async signIn(secret: unknown): Promise<HttpReply> {
    return this.send('POST', '/api/session', { body: JSON.stringify({ secret }) })
  }

  /** Makes one call and gives the whole reply. */
  async ask(method: string, params: object = {}, options: HttpOptions = {}): Promise<HttpReply> {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 7, method, params: [params] })
    return this.send('POST', '/api/rpc', { body, ...options })
  }

  /** Makes one call and gives the parsed reply. */
  async call(method: string, params: object = {}): Promise<any> {
    return JSON.parse((await this.ask(method, params)).text)
  }
}

/** What a refusal of the dashboard says. */
export function reasonOf({ text }: HttpReply): string {
  return String(JSON.parse(text).error?.data?.reason)
}
