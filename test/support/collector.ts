/** A collector of traces on a real socket, which reads OTLP as JSON. */
import { EventEmitter, once } from 'node:events'
import { createServer } from 'node:http'
import type { IncomingHttpHeaders, Server, ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Teardown } from './teardown.ts'
import { within } from './until.ts'

/** A span as it was exported. */
export interface SeenSpan {
  readonly name: string
  readonly kind: 'internal' | 'server' | 'client'
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId: string | null
  /** Nanoseconds since the Unix epoch. */
  readonly begin: bigint
  readonly end: bigint
  readonly attributes: Readonly<Record<string, unknown>>
  /** Null where nothing went wrong. */
  readonly error: string | null
  readonly links: readonly { readonly traceId: string; readonly spanId: string }[]
  /** What it says of its process. */
  readonly resource: Readonly<Record<string, unknown>>
}

/** What a collector does with an export. */
type Answer = (response: ServerResponse) => void

const KINDS = { 1: 'internal', 2: 'server', 3: 'client' } as const
const taken: Answer = response => {
  response.writeHead(200, { 'content-type': 'application/json' }).end('{"partialSuccess":{}}')
}

/** Remembers everything. */
export class Collector {
  readonly spans: SeenSpan[] = []
  /** Each body as it came. */
  readonly bodies: string[] = []
  readonly requests: { readonly url: string; readonly headers: IncomingHttpHeaders }[] = []
  answer: Answer = taken
  readonly #arrivals = new EventEmitter().setMaxListeners(0)
  readonly #server: Server = createServer((request, response) => {
    const pieces: Buffer[] = []
    request.on('data', (piece: Buffer) => pieces.push(piece))
    request.on('end', () => {
      const text = Buffer.concat(pieces).toString()
      this.bodies.push(text)
      this.requests.push({ url: request.url ?? '', headers: request.headers })
      this.spans.push(...spansOf(text))
      this.answer(response)
      this.#arrivals.emit('export')
    })
  })
  #port = 0

  get url(): string {
    return `http://127.0.0.1:${this.#port}`
  }

  async start(): Promise<void> {
    this.#server.listen(this.#port, '127.0.0.1')
    await once(this.#server, 'listening')
    this.#port = (this.#server.address() as AddressInfo).port
  }

  /** Takes no connections until it is started again. */
  async stop(): Promise<void> {
    const closed = once(this.#server, 'close')
    this.#server.close()
    this.#server.closeAllConnections()
    await closed
  }

  /** Resolves when `find` gives something of the spans so far. */
  async when<T>(what: string, find: (spans: readonly SeenSpan[]) => T | undefined): Promise<T> {
    for (;;) {
      const found = find(this.spans)
      if (found !== undefined) return found
      await within(what, once(this.#arrivals, 'export'), 30_000)
    }
  }

  /** Resolves when as many exports have come. */
  async exports(count: number): Promise<void> {
    while (this.bodies.length < count)
      await within(`${count} exports`, once(this.#arrivals, 'export'), 30_000)
  }

  /** The span of the call with this request id, once it has come. */
  call(requestId: string): Promise<SeenSpan> {
    return this.when(`the span of ${requestId}`, spans =>
      spans.find(each => each.attributes['tollgate.request_id'] === requestId && each.name !== 'batch'),
    )
  }

  /** All spans of a trace so far, each below its parent, as names: `eth_call(admit, commit, attempt)`. */
  tree(traceId: string): string {
    const spans = this.spans.filter(each => each.traceId === traceId)
    const ids = new Set(spans.map(({ spanId }) => spanId))
    const below = (id: string): string =>
      spans
        .filter(({ parentSpanId }) => parentSpanId === id)
        .map(nameOf)
        .join(', ')
    const nameOf = ({ name, spanId }: SeenSpan): string => {
      const inner = below(spanId)
      return inner === '' ? name : `${name}(${inner})`
    }
    return spans
      .filter(({ parentSpanId }) => parentSpanId === null || !ids.has(parentSpanId))
      .map(nameOf)
      .join(', ')
  }
}

/** Starts one. */
export async function startCollector(t: Teardown): Promise<Collector> {
  const collector = new Collector()
  await collector.start()
  t.teardown(() => collector.stop().catch(() => undefined))
  return collector
}

/** OTLP as JSON, as far as it is read here. */
interface Exported {
  readonly resourceSpans: readonly {
    readonly resource: WithAttributes
    readonly scopeSpans: readonly { readonly spans: readonly ExportedSpan[] }[]
  }[]
}

interface WithAttributes {
  readonly attributes: readonly {
    readonly key: string
    readonly value: {
      readonly stringValue?: string
      readonly boolValue?: boolean
      readonly intValue?: string
    }
  }[]
}

interface ExportedSpan extends WithAttributes {
  readonly name: string
  readonly kind: 1 | 2 | 3
  readonly traceId: string
  readonly spanId: string
  readonly parentSpanId?: string
  readonly startTimeUnixNano: string
  readonly endTimeUnixNano: string
  readonly status: { readonly code: number; readonly message?: string }
  readonly links?: readonly { readonly traceId: string; readonly spanId: string }[]
}

function spansOf(text: string): SeenSpan[] {
  const { resourceSpans } = JSON.parse(text) as Exported
  return resourceSpans.flatMap(({ resource, scopeSpans }) =>
    scopeSpans.flatMap(({ spans }) => spans.map(span => seen(span, resource))),
  )
}

function seen(span: ExportedSpan, resource: WithAttributes): SeenSpan {
  const { name, kind, traceId, spanId, parentSpanId = null, status, links = [] } = span
  return {
    name,
    kind: KINDS[kind],
    traceId,
    spanId,
    parentSpanId,
    begin: BigInt(span.startTimeUnixNano),
    end: BigInt(span.endTimeUnixNano),
    attributes: attributesOf(span),
    error: status.code === 2 ? (status.message ?? '') : null,
    links: links.map(link => ({ traceId: link.traceId, spanId: link.spanId })),
    resource: attributesOf(resource),
  }
}

function attributesOf({ attributes }: WithAttributes): Record<string, unknown> {
  return Object.fromEntries(
    attributes.map(({ key, value }) => [key, value.stringValue ?? value.boolValue ?? Number(value.intValue)]),
  )
}
