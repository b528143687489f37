/** The spans of a call: what operators see of it. Never a param, key, URL or address: names are those of the snapshot. */
import type { Observation } from '../../ports/observer.ts'
import { CAUSED_BY_CLIENTS } from '../observer.ts'
import type { AttemptKind, TracedCaller } from '../../ports/tracing.ts'
import type { Attributes, Span } from './span.ts'
import { newSpanId } from './traceparent.ts'
import type { TraceContext } from './traceparent.ts'

/** A stretch of time, by the monotonic clock. */
export interface Stretch {
  readonly begin: number
  readonly end: number
}

/** The trace of a message. */
export interface MessageFacts {
  readonly traceId: string
  /** Of its first span. */
  readonly spanId: string
  /** The client's span; null where it said of none, or is not believed. */
  readonly parent: TraceContext | null
  /** The same of one that is not believed. */
  readonly link: TraceContext | null
  /** What makes a time since the Unix epoch of one by the monotonic clock: one for all spans, so that their order is right. */
  readonly epoch: number
  readonly requestId: string
  readonly caller: TracedCaller
}

/** A call that is over. */
export interface CallFacts {
  readonly trace: MessageFacts
  readonly spanId: string
  readonly begin: number
  /** Its place in a batch; null where it stands alone. */
  readonly index: number | null
  /** Why there are spans of it, where it was not sampled. */
  readonly kept: 'error' | 'slow' | null
  /** Whether it failed for a fault of ours or of an upstream. */
  readonly isFault: boolean
}

/** An attempt that is over. */
export interface AttemptFacts {
  readonly spanId: string
  readonly route: string
  readonly kind: AttemptKind
  readonly begin: number
  readonly end: number
  readonly result: string
}

/** The call itself. */
export function callSpan(call: CallFacts, seen: Observation): Span {
  const { trace, index, kept, isFault } = call
  return {
    ...{ name: seen.method, kind: 'server', traceId: trace.traceId, spanId: call.spanId },
    ...(index === null ? origin(trace) : { parent: { spanId: trace.spanId, isRemote: false }, link: null }),
    ...{ begin: trace.epoch + call.begin, end: trace.epoch + call.begin + seen.totalMs },
    attributes: {
      ...methodAttributes(seen),
      'tollgate.network': seen.network,
      'tollgate.plan': seen.plan,
      'tollgate.transport': seen.transport,
      'tollgate.endpoint': seen.endpoint,
      'tollgate.route': seen.route,
      'tollgate.outcome': seen.outcome,
      'tollgate.reason': seen.reason,
      'tollgate.units': seen.requests,
      'tollgate.cache': seen.cache,
      'tollgate.shared': seen.shared ? true : null,
      'tollgate.batch.index': index,
      'tollgate.kept': kept,
      'tollgate.request_id': seen.requestId,
    },
    error: isFault ? (seen.reason ?? seen.outcome) : null,
  }
}

/** Rules of HTTP APIs are named by verb and path. */
function methodAttributes({ method, status }: Observation): Attributes {
  const [verb = '', path] = method.split(' ', 2)
  if (path === undefined) return { 'rpc.system': 'jsonrpc', 'rpc.method': method }
  return { 'http.request.method': verb, 'http.route': path, 'http.response.status_code': status }
}

/** Where the first span of a message stands. */
function origin({ parent, link }: MessageFacts): Pick<Span, 'parent' | 'link'> {
  return { parent: parent === null ? null : { spanId: parent.spanId, isRemote: true }, link }
}

/** All calls of a batch. */
export function batchSpan(trace: MessageFacts, stretch: Stretch, size: number): Span {
  const { network, plan, payer, transport } = trace.caller
  return {
    ...{ name: 'batch', kind: 'server', traceId: trace.traceId, spanId: trace.spanId, ...origin(trace) },
    ...{ begin: trace.epoch + stretch.begin, end: trace.epoch + stretch.end },
    attributes: {
      'rpc.system': 'jsonrpc',
      'tollgate.network': network.slug,
      'tollgate.plan': plan.name,
      'tollgate.transport': transport,
      'tollgate.endpoint': payer?.endpoint.id ?? null,
      'tollgate.batch.size': size,
      'tollgate.request_id': trace.requestId,
    },
    error: null,
  }
}

/** From its begin until its limits had let it in, or refused it. */
export function admitSpan(call: CallFacts, end: number): Span {
  return part(call, 'admit', { begin: call.begin, end })
}

/** The wait for its charge to be on the disk. */
export function commitSpan(call: CallFacts, stretch: Stretch): Span {
  return part(call, 'commit', stretch)
}

function part(call: CallFacts, name: string, { begin, end }: Stretch): Span {
  const { trace, spanId } = call
  return {
    ...{ name, kind: 'internal', traceId: trace.traceId, spanId: newSpanId(), link: null },
    parent: { spanId, isRemote: false },
    ...{ begin: trace.epoch + begin, end: trace.epoch + end, attributes: {}, error: null },
  }
}

/** One attempt at a route, until its reply had come. */
export function attemptSpan(call: CallFacts, attempt: AttemptFacts): Span {
  const { trace, spanId } = call
  const { result } = attempt
  const isWell = result === 'ok' || result === 'error' || CAUSED_BY_CLIENTS.has(result)
  return {
    ...{ name: 'attempt', kind: 'client', traceId: trace.traceId, spanId: attempt.spanId, link: null },
    parent: { spanId, isRemote: false },
    ...{ begin: trace.epoch + attempt.begin, end: trace.epoch + attempt.end },
    attributes: {
      'tollgate.network': trace.caller.network.slug,
      'tollgate.route': attempt.route,
      'tollgate.attempt': attempt.kind,
      'tollgate.result': result,
    },
    error: isWell ? null : result,
  }
}
