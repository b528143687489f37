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

// Each span is one literal: spread objects cost more than all the rest of it.

/** The call itself. */
export function callSpan(call: CallFacts, seen: Observation): Span {
  const { trace, index, kept, isFault } = call
  const begin = trace.epoch + call.begin
  const isFirst = index === null
  return {
    name: seen.method,
    kind: 'server',
    traceId: trace.traceId,
    spanId: call.spanId,
    parent: isFirst ? parentOf(trace) : { spanId: trace.spanId, isRemote: false },
    link: isFirst ? trace.link : null,
    begin,
    end: begin + seen.totalMs,
    attributes: callAttributes(seen, index, kept),
    error: isFault ? (seen.reason ?? seen.outcome) : null,
  }
}

function callAttributes(seen: Observation, index: number | null, kept: CallFacts['kept']): Attributes {
  const attributes: Writable = {
    'tollgate.network': seen.network,
    'tollgate.plan': seen.plan,
    'tollgate.transport': seen.transport,
    'tollgate.outcome': seen.outcome,
    'tollgate.units': seen.requests,
    'tollgate.request_id': seen.requestId,
  }
  // Rules of HTTP APIs are named by verb and path.
  const space = seen.method.indexOf(' ')
  if (space === -1) {
    attributes['rpc.system'] = 'jsonrpc'
    attributes['rpc.method'] = seen.method
  } else {
    attributes['http.request.method'] = seen.method.slice(0, space)
    attributes['http.route'] = seen.method.slice(space + 1)
    attributes['http.response.status_code'] = seen.status
  }
  if (seen.endpoint !== null) attributes['tollgate.endpoint'] = seen.endpoint
  if (seen.route !== null) attributes['tollgate.route'] = seen.route
  if (seen.reason !== null) attributes['tollgate.reason'] = seen.reason
  if (seen.cache !== null) attributes['tollgate.cache'] = seen.cache
  if (seen.shared) attributes['tollgate.shared'] = true
  if (index !== null) attributes['tollgate.batch.index'] = index
  if (kept !== null) attributes['tollgate.kept'] = kept
  return attributes
}

type Writable = { -readonly [Key in keyof Attributes]: Attributes[Key] }

/** Of the first span of a message. */
function parentOf({ parent }: MessageFacts): Span['parent'] {
  return parent === null ? null : { spanId: parent.spanId, isRemote: true }
}

/** All calls of a batch. */
export function batchSpan(trace: MessageFacts, stretch: Stretch, size: number): Span {
  const { network, plan, payer, transport } = trace.caller
  const attributes: Writable = {
    'rpc.system': 'jsonrpc',
    'tollgate.network': network.slug,
    'tollgate.plan': plan.name,
    'tollgate.transport': transport,
    'tollgate.batch.size': size,
    'tollgate.request_id': trace.requestId,
  }
  if (payer !== null) attributes['tollgate.endpoint'] = payer.endpoint.id
  return {
    name: 'batch',
    kind: 'server',
    traceId: trace.traceId,
    spanId: trace.spanId,
    parent: parentOf(trace),
    link: trace.link,
    begin: trace.epoch + stretch.begin,
    end: trace.epoch + stretch.end,
    attributes,
    error: null,
  }
}

/** A part of a call: `admit`, until its limits had let it in or refused it; `commit`, the wait for its charge to be on the disk. */
export function partSpan(call: CallFacts, name: 'admit' | 'commit', begin: number, end: number): Span {
  const { trace } = call
  return {
    name,
    kind: 'internal',
    traceId: trace.traceId,
    spanId: newSpanId(),
    parent: { spanId: call.spanId, isRemote: false },
    link: null,
    begin: trace.epoch + begin,
    end: trace.epoch + end,
    attributes: NONE,
    error: null,
  }
}

const NONE: Attributes = {}

/** One attempt at a route, until its reply had come. */
export function attemptSpan(call: CallFacts, attempt: AttemptFacts): Span {
  const { trace } = call
  const { result } = attempt
  const isWell = result === 'ok' || result === 'error' || CAUSED_BY_CLIENTS.has(result)
  return {
    name: 'attempt',
    kind: 'client',
    traceId: trace.traceId,
    spanId: attempt.spanId,
    parent: { spanId: call.spanId, isRemote: false },
    link: null,
    begin: trace.epoch + attempt.begin,
    end: trace.epoch + attempt.end,
    attributes: {
      'tollgate.network': trace.caller.network.slug,
      'tollgate.route': attempt.route,
      'tollgate.attempt': attempt.kind,
      'tollgate.result': result,
    },
    error: isWell ? null : result,
  }
}
