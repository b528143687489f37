import { request, type Agent, type IncomingHttpHeaders } from 'node:http'

/** One whole HTTP reply. */
export interface HttpReply {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly text: string
}

/** The same with the bytes of the body as they came. */
export interface ByteReply extends HttpReply {
  readonly bytes: Buffer
}

/** What of a request a test may decide; the rest is a plain JSON-RPC POST on a connection of its own. */
export interface HttpOptions {
  readonly method?: string
  readonly path?: string
  /** An undefined value leaves the header out. */
  readonly headers?: Readonly<Record<string, string | undefined>>
  readonly body?: string | Buffer
  /** Send the body in chunks, without its length. */
  readonly chunked?: boolean
  readonly agent?: Agent
  /** Default: 127.0.0.1. */
  readonly host?: string
}

/** Sends one HTTP request and gives the whole reply; rejects when the connection ends without one. */
export async function send(port: number, options: HttpOptions): Promise<ByteReply> {
  const body = Buffer.from(options.body ?? '')
  const length =
    options.chunked === true || body.length === 0 ? {} : { 'content-length': String(body.length) }
  const wanted: Record<string, string | undefined> = {
    'content-type': 'application/json',
    ...length,
    ...options.headers,
  }
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(wanted)) if (value !== undefined) headers[name] = value
  return new Promise((resolve, reject) => {
    const sent = request({
      host: options.host ?? '127.0.0.1',
      port,
      method: options.method ?? 'POST',
      path: options.path ?? '/',
      headers,
      agent: options.agent ?? false,
    })
    sent.on('error', reject)
    sent.on('response', response => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.push(chunk))
      response.on('error', reject)
      response.on('close', () => {
        if (!response.complete) reject(new Error('the reply was cut off'))
        const bytes = Buffer.concat(chunks)
        const { statusCode: status = 0, headers } = response
        resolve({ status, headers, text: bytes.toString(), bytes })
      })
    })
    // A body that is handed to `end` alone would be sent with its length.
    if (options.chunked === true) sent.write(body)
    sent.end(options.chunked === true ? undefined : body)
  })
}

/** Fetches a page and gives its reply. */
export async function get(url: string): Promise<HttpReply> {
  const { hostname, port, pathname, search } = new URL(url)
  return send(Number(port), {
    host: hostname,
    method: 'GET',
    path: pathname + search,
    headers: { 'content-type': undefined },
  })
}
