/**
 * The way to a collector: OTLP over HTTP in JSON, as OpenTelemetry's exporter writes it. This file alone knows that library, and is loaded only where
 * gateway.yaml has `tracing`.
 */
import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { createOtlpHttpExportDelegate } from '@opentelemetry/otlp-exporter-base/node-http'
import { JsonTraceSerializer, TraceExporterMetricsHelper } from '@opentelemetry/otlp-transformer'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import type { TracingConfig } from '../../config/observing/types.ts'
import { version } from '../../config/version.ts'
import { Unsent } from './export-queue.ts'
import type { Exporter } from './export-queue.ts'
import type { Attributes, Span } from './span.ts'

type ReadableSpan = Parameters<typeof JsonTraceSerializer.serializeRequest>[0][number]

/** Milliseconds for an export, retries included. */
const TIMEOUT = 5_000
/** Exports that the library lets be under way: one, and those that were cut and have not ended yet. */
const UNDER_WAY = 8
/** Bytes of a reply that are read at most; longer ones say nothing that matters. */
const MOST_READ = 64 * 1024

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT }

const scope = { name: 'tollgate', version }

/** Opens no connection yet. `process` is what spans say of the process that they come from. */
export function openOtlp(
  { endpoint, headers }: Pick<TracingConfig, 'endpoint' | 'headers'>,
  process: Attributes,
): Exporter {
  const options = { keepAlive: true, maxSockets: 1 }
  const agent = endpoint.startsWith('https:') ? new TlsAgent(options) : new Agent(options)
  /** Spans of this export that were not accepted. */
  let rejected = 0
  const serializer = {
    serializeRequest: withWholeNumbers,
    deserializeResponse: (reply: Uint8Array) => {
      rejected = rejectedOf(reply)
      return {}
    },
  }
  const posted = Promise.resolve({ ...headers, 'Content-Type': 'application/json' })
  const delegate = createOtlpHttpExportDelegate(
    {
      url: endpoint,
      headers: () => posted,
      agentFactory: () => agent,
      compression: 'none',
      timeoutMillis: TIMEOUT,
      concurrencyLimit: UNDER_WAY,
    },
    serializer,
    'otlp_http_span_exporter',
    TraceExporterMetricsHelper,
    undefined,
  )
  // Nothing is found out about the machine.
  const own = { 'service.name': 'tollgate', 'service.version': version, ...process }
  const resource = defaultResource().merge(resourceFromAttributes(own))
  return {
    export: spans =>
      new Promise((resolve, reject) => {
        // The library's own timeout begins anew with each byte of a reply. A process that ends waits for none.
        const timer = setTimeout(() => {
          agent.destroy()
          reject(new Unsent('no reply in time'))
        }, TIMEOUT).unref()
        rejected = 0
        delegate.export(
          spans.map(span => readable(span, resource)),
          ({ error }) => {
            clearTimeout(timer)
            if (error === undefined) resolve(Math.min(rejected, spans.length))
            else reject(new Unsent(whyOf(error)))
          },
        )
      }),
    destroy: () => {
      agent.destroy()
    },
  }
}

/** Integers of 64 bits are strings in JSON (OTLP, "JSON Protobuf Encoding"): the library writes numbers, which not every collector takes. */
function withWholeNumbers(spans: ReadableSpan[]): Uint8Array {
  // Within a string each quote has a backslash before it. Bytes are read as latin1 and written back as they were.
  const json = Buffer.from(JsonTraceSerializer.serializeRequest(spans)!).toString('latin1')
  return Buffer.from(json.replace(/"intValue":(-?\d+)/g, '"intValue":"$1"'), 'latin1')
}

/** How many spans a collector has not accepted of an export that it has (partial success). */
function rejectedOf(reply: Uint8Array): number {
  if (reply.length > MOST_READ) return 0
  const said = JsonTraceSerializer.deserializeResponse(reply) as Rejecting
  const count = Math.floor(Number(said?.partialSuccess?.rejectedSpans ?? 0))
  return count > 0 ? count : 0
}

/** What may be in a reply. */
type Rejecting = { readonly partialSuccess?: { readonly rejectedSpans?: unknown } | null } | null

/** A status or a code: what else an error says may be the collector's words, or where it is. */
function whyOf(error: Error & { readonly code?: unknown }): string {
  const { code, message } = error
  if (typeof code === 'number') return `HTTP ${code}`
  if (typeof code === 'string') return code.startsWith('HPE_') ? `its reply is not HTTP/1.1 (${code})` : code
  return WORDS.find(([of]) => message.includes(of))?.[1] ?? 'unknown'
}

/** What the library's errors without a code mean. */
const WORDS = [
  ['Request timed out', 'no reply in time'],
  ['retryable status', 'it asks to be tried again later'],
  ['exceeded size limit', 'its reply is too long'],
] as const

/** One literal, as there are many. */
function readable(span: Span, resource: ReadableSpan['resource']): ReadableSpan {
  const { traceId, parent, link, error } = span
  const context = { traceId, spanId: span.spanId, traceFlags: TraceFlags.SAMPLED }
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context,
    ...(parent !== null && { parentSpanContext: contextOf(traceId, parent.spanId, true, parent.isRemote) }),
    startTime: timeOf(span.begin),
    endTime: timeOf(span.end),
    status: error === null ? WELL : { code: SpanStatusCode.ERROR, message: error },
    attributes: span.attributes,
    links: link === null ? [] : [{ context: contextOf(link.traceId, link.spanId, link.isSampled, true) }],
    events: [],
    duration: timeOf(Math.max(0, span.end - span.begin)),
    ended: true,
    resource,
    instrumentationScope: scope,
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  }
}

const WELL = { code: SpanStatusCode.UNSET }

function contextOf(traceId: string, spanId: string, isSampled: boolean, isRemote: boolean): SpanContext {
  return { traceId, spanId, traceFlags: isSampled ? TraceFlags.SAMPLED : TraceFlags.NONE, isRemote }
}

/** Seconds and nanoseconds of milliseconds. */
function timeOf(ms: number): [number, number] {
  const seconds = Math.floor(ms / 1000)
  return [seconds, Math.floor((ms - seconds * 1000) * 1e6)]
}
