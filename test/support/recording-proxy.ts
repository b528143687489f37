import { once } from 'node:events'
import { createServer, request } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './teardown.ts'

/** One JSON-RPC call as a client library wrote it, with the reply that it got; null when there was none for it. */
export interface RecordedCall {
  readonly method: string
  readonly id?: unknown
  readonly reply: any
}

/** Stands between a client library and the gateway and remembers what went over the line. */
export interface RecordingProxy {
  /** The same path as asked for, on the proxy. */
  readonly url: string
  /** Every HTTP exchange, parsed. */
  readonly exchanges: readonly { readonly request: any; readonly reply: any }[]
  /** Every call of every exchange, batches taken apart. */
  calls(): RecordedCall[]
}

function takeApart({ request, reply }: RecordingProxy['exchanges'][number]): RecordedCall[] {
  const replies: any[] = [reply].flat()
  return [request].flat().map(({ method, id }) => ({
    method,
    id,
    reply: replies.find(one => one?.id === id) ?? null,
  }))
}

function parsed(chunks: Buffer[]): unknown {
  const text = Buffer.concat(chunks).toString()
  return text === '' ? null : JSON.parse(text)
}

/** Relays everything to a URL of the gateway; ends with the test. */
export async function startRecordingProxy(t: Teardown, target: string): Promise<RecordingProxy> {
  const { hostname, port, pathname } = new URL(target)
  const exchanges: { request: unknown; reply: unknown }[] = []
  const server = createServer((incoming, outgoing) => {
    const asked: Buffer[] = []
    incoming.on('data', (chunk: Buffer) => asked.push(chunk))
    incoming.on('end', () => {
      const { method, url: path, headers } = incoming
      const host = `${hostname}:${port}`
      const relayed = request({ hostname, port, method, path, headers: { ...headers, host } })
      relayed.on('error', () => outgoing.destroy())
      relayed.on('response', reply => {
        const answered: Buffer[] = []
        reply.on('data', (chunk: Buffer) => answered.push(chunk))
        reply.on('end', () => {
          exchanges.push({ request: parsed(asked), reply: parsed(answered) })
          outgoing.writeHead(reply.statusCode ?? 502, reply.rawHeaders)
          outgoing.end(Buffer.concat(answered))
        })
      })
      relayed.end(Buffer.concat(asked))
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  t.teardown(() => {
    server.close()
    server.closeAllConnections()
  })
  const own = (server.address() as AddressInfo).port
  return {
    url: `http://127.0.0.1:${own}${pathname}`,
    exchanges,
    calls: () => exchanges.flatMap(takeApart),
  }
}
