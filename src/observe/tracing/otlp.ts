/**
 * The way to a collector: OTLP over HTTP in JSON, as OpenTelemetry's exporter writes it. This file alone knows that library, and is loaded only where
 * gateway.yaml has `tracing`.
 */
import { Agent } from 'node:http'
import { Agent as TlsAgent } from 'node:https'
import { SpanKind, SpanStatusCode, TraceFlags } from '@opentelemetry/api'
import type { SpanContext } from '@opentelemetry/api'
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import { defaultResource, resourceFromAttributes } from '@opentelemetry/resources'
import type { TracingConfig } from '../../config/observing/types.ts'
import { version } from '../../config/version.ts'
import { Unsent } from './export-queue.ts'
import type { Exporter } from './export-queue.ts'
import type { Attributes, Span } from './span.ts'

type ReadableSpan = Parameters<OTLPTraceExporter['export']>[0][number]

/** Milliseconds for an export, retries included. */
const TIMEOUT = 5_000

const KINDS = { internal: SpanKind.INTERNAL, server: SpanKind.SERVER, client: SpanKind.CLIENT }

const scope = { name: 'tollgate', version }

/** Opens no connection yet. `process` is what spans say of the process that they come from. */
export function openOtlp(
  { endpoint, headers }: Pick<TracingConfig, 'endpoint' | 'headers'>,
  process: Attributes,
): Exporter {
  const options = { keepAlive: true, maxSockets: 1 }
  const agent = endpoint.startsWith('https:') ? new TlsAgent(options) : new Agent(options)
  const exporter = new OTLPTraceExporter({
    ...{ url: endpoint, headers: { ...headers }, timeoutMillis: TIMEOUT, compression: 'none' as never },
    httpAgentOptions: () => agent,
  })
  // Nothing is found out about the machine.
  const own = { 'service.name': 'tollgate', 'service.version': version, ...process }
  const resource = defaultResource().merge(resourceFromAttributes(own))
  return {
    export: spans =>
      new Promise((resolve, reject) => {
        // The library's own timeout begins anew with each byte of a reply.
        const timer = setTimeout(() => {
          agent.destroy()
          reject(new Unsent('no reply in time'))
        }, TIMEOUT)
        exporter.export(
          spans.map(span => readable(span, resource)),
          ({ error }) => {
            clearTimeout(timer)
            if (error === undefined) resolve()
            else reject(new Unsent(whyOf(error)))
          },
        )
      }),
    destroy: () => {
      agent.destroy()
    },
  }
}

/** A status or a code: what else an error says may be the collector's words, or where it is. */
function whyOf(error: Error & { readonly code?: unknown }): string {
  const { code } = error
  if (typeof code === 'number') return `HTTP ${code}`
  if (typeof code === 'string') return code
  return error.message === 'Request timed out' ? 'no reply in time' : 'it asks to be tried again later'
}

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
