/** What is kept of a call that may be traced: stamps, and the attempts. The spans are made of it at the end. */
import type { Clock } from '../../ports/clock.ts'
import type { Observation } from '../../ports/observer.ts'
import type {
  AttemptKind,
  AttemptRecord,
  CallRecord,
  MessageRecord,
  TracedCaller,
  TracedMessage,
} from '../../ports/tracing.ts'
import { attemptSpan, batchSpan, callSpan, partSpan } from './spans.ts'
import type { AttemptFacts, CallFacts, MessageFacts, Stretch } from './spans.ts'
import type { Span } from './span.ts'
import { formatTraceparent, newSpanId, newTraceId, parseTraceparent } from './traceparent.ts'
import type { TraceContext } from './traceparent.ts'

/** What records work with. */
export interface Recording {
  readonly clock: Clock
  /** Takes a span that is to be exported. */
  readonly add: (span: Span) => void
  /** Why a call that was not sampled is kept; null where it is not. */
  readonly why: (caller: TracedCaller, isFault: boolean, ms: number) => 'error' | 'slow' | null
}

/** The trace of a message. */
export class MessageTrace implements MessageRecord, MessageFacts {
  readonly traceId: string
  readonly parent: TraceContext | null
  readonly link: TraceContext | null
  readonly epoch: number
  readonly requestId: string
  readonly caller: TracedCaller
  readonly spanId = newSpanId()
  readonly #recording: Recording
  /** Whether there are spans of any of its calls. */
  isExported = false

  constructor(recording: Recording, caller: TracedCaller, requestId: string) {
    const { clock } = recording
    const context = caller.trace === undefined ? null : parseTraceparent(caller.trace.traceparent)
    const isBelieved = caller.trace?.isBelieved === true
    this.#recording = recording
    this.parent = isBelieved ? context : null
    this.link = isBelieved ? null : context
    this.traceId = this.parent?.traceId ?? newTraceId()
    this.epoch = clock.now() - clock.monotonic()
    this.requestId = requestId
    this.caller = caller
  }

  exportBatch(begin: number, size: number): void {
    const { clock, add } = this.#recording
    if (this.isExported) add(batchSpan(this, { begin, end: clock.monotonic() }, size))
  }
}

/** The trace of a message, which is made now where there is none yet. */
export function traceOf(message: TracedMessage, caller: TracedCaller, recording: Recording): MessageTrace {
  const { trace } = message
  if (trace instanceof MessageTrace) return trace
  const made = new MessageTrace(recording, caller, message.requestId)
  message.trace = made
  return made
}

/** One call. */
export class RecordedCall implements CallRecord, CallFacts {
  readonly begin: number
  readonly index: number | null
  readonly isSampled: boolean
  readonly #recording: Recording
  readonly #message: TracedMessage
  readonly #caller: TracedCaller
  #attempts: RecordedAttempt[] | null = null
  #spanId: string | null = null
  #admitted: number | null = null
  #commit: Stretch | null = null
  /** Null until it is settled. */
  #isExported: boolean | null = null
  kept: 'error' | 'slow' | null = null
  isFault = false

  constructor(
    recording: Recording,
    message: TracedMessage,
    caller: TracedCaller,
    { begin, index, isSampled }: { begin: number; index: number | null; isSampled: boolean },
  ) {
    this.#recording = recording
    this.#message = message
    this.#caller = caller
    this.begin = begin
    this.index = index
    this.isSampled = isSampled
  }

  get trace(): MessageTrace {
    return traceOf(this.#message, this.#caller, this.#recording)
  }

  get spanId(): string {
    return (this.#spanId ??= newSpanId())
  }

  get now(): number {
    return this.#recording.clock.monotonic()
  }

  admitted(): void {
    this.#admitted = this.now
  }

  committed(from: number): void {
    this.#commit = { begin: from, end: this.now }
  }

  attempt(route: string, kind: AttemptKind): AttemptRecord {
    const attempt = new RecordedAttempt(this, route, kind, this.now)
    this.#attempts ??= []
    this.#attempts.push(attempt)
    return attempt
  }

  settle(isFault: boolean, ms: number): string | null {
    this.isFault = isFault
    if (!this.isSampled) this.kept = this.#recording.why(this.#caller, isFault, ms)
    this.#isExported = this.isSampled || this.kept !== null
    return this.#isExported ? this.trace.traceId : null
  }

  export(seen: Observation): void {
    if (this.#isExported !== true) return
    const { add } = this.#recording
    this.trace.isExported = true
    add(callSpan(this, seen))
    if (this.#admitted !== null) add(partSpan(this, 'admit', this.begin, this.#admitted))
    if (this.#commit !== null) add(partSpan(this, 'commit', this.#commit.begin, this.#commit.end))
    for (const attempt of this.#attempts ?? []) if (attempt.isOver) add(attemptSpan(this, attempt))
  }

  /** An attempt has ended: its span is made with those of its call, or now where that is over. */
  attemptEnded(attempt: RecordedAttempt): void {
    if (this.#isExported === true) this.#recording.add(attemptSpan(this, attempt))
  }
}

/** One attempt of it. */
class RecordedAttempt implements AttemptRecord, AttemptFacts {
  readonly route: string
  readonly kind: AttemptKind
  readonly begin: number
  readonly #call: RecordedCall
  #spanId: string | null = null
  end = NaN
  result = ''

  constructor(call: RecordedCall, route: string, kind: AttemptKind, begin: number) {
    this.#call = call
    this.route = route
    this.kind = kind
    this.begin = begin
  }

  get spanId(): string {
    return (this.#spanId ??= newSpanId())
  }

  get isOver(): boolean {
    return this.result !== ''
  }

  get traceparent(): string {
    const { trace, isSampled } = this.#call
    return formatTraceparent({ traceId: trace.traceId, spanId: this.spanId, isSampled })
  }

  ended(result: string): void {
    this.end = this.#call.now
    this.result = result
    this.#call.attemptEnded(this)
  }
}
