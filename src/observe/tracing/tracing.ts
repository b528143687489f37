/** The traces of one process: follows the configuration, and has spans of calls exported (gateway.yaml, `tracing`). */
import type { TracingConfig } from '../../config/observing/types.ts'
import type { Clock } from '../../ports/clock.ts'
import type { CallRecord, TracedCaller, TracedMessage, Tracing } from '../../ports/tracing.ts'
import type { Logger } from '../log.ts'
import type { Metrics } from '../metrics.ts'
import type { Tally } from '../tally.ts'
import { ExportQueue } from './export-queue.ts'
import type { ExportEvents } from './export-queue.ts'
import { RecordedCall, traceOf } from './records.ts'
import type { Recording } from './records.ts'
import { Keeper, Sampler } from './sampler.ts'
import type { Attributes } from './span.ts'
import { formatTraceparent, newSpanId, parseTraceparent } from './traceparent.ts'

/** Milliseconds that the last spans get to leave. */
const PATIENCE = 2_000

/** What tracing works with. */
export interface TracingParts {
  readonly clock: Clock
  readonly metrics: Pick<Metrics, 'counter'>
  readonly log: Pick<Logger, 'info' | 'warn'>
  /** What spans say of this process, besides its program. */
  readonly process: Attributes
}

/** What is open while the configuration has `tracing`. */
interface Open {
  readonly config: TracingConfig
  readonly queue: ExportQueue
  readonly recording: Recording
}

/** Opens nothing until it has a configuration to follow. */
export class Traces implements Tracing {
  readonly #parts: TracingParts
  readonly #sampler: Sampler
  readonly #keeper = new Keeper()
  #open: Open | null = null
  #spans: Tally | null = null
  /** Exporters of configurations before this one, which bring away what they have. */
  readonly #leaving = new Set<Promise<void>>()
  /** Configurations are followed one after another, in the order in which they came: to open an exporter takes a while. */
  #following: Promise<void> = Promise.resolve()
  #isClosed = false

  constructor(parts: TracingParts, sampler = new Sampler()) {
    this.#parts = parts
    this.#sampler = sampler
  }

  begin(
    message: TracedMessage,
    caller: TracedCaller,
    begin: number,
    index: number | null,
  ): CallRecord | null {
    const open = this.#open
    if (open === null) return null
    const isSampled = sampledByParent(caller) ?? this.#sampler.next()
    if (!isSampled && open.config.keep === null) return null
    return new RecordedCall(open.recording, message, caller, { begin, index, isSampled })
  }

  unrecorded(message: TracedMessage, caller: TracedCaller): string | null {
    if (this.#open === null) return null
    const { traceId } = traceOf(message, caller, this.#open.recording)
    return formatTraceparent({ traceId, spanId: newSpanId(), isSampled: false })
  }

  follow(config: TracingConfig | null): Promise<void> {
    const wanted = this.#isClosed ? null : config
    const following = this.#following.then(() => this.#follow(wanted))
    this.#following = following.catch(() => undefined)
    return following
  }

  async #follow(config: TracingConfig | null): Promise<void> {
    const before = this.#open
    if (config === null) this.#open = null
    else {
      const queue = before !== null && leadsTo(before.config) === leadsTo(config) ? before.queue : null
      this.#sampler.part = config.sample
      this.#open = this.#opened(config, queue ?? (await this.#openQueue(config)))
    }
    if (before !== null && before.queue !== this.#open?.queue) this.#leave(before.queue)
  }

  /** Exports what there is, for two seconds; opens nothing any more, whatever configuration comes. */
  async close(): Promise<void> {
    this.#isClosed = true
    await this.follow(null)
    await Promise.all(this.#leaving)
  }

  #opened(config: TracingConfig, queue: ExportQueue): Open {
    const { clock } = this.#parts
    return {
      config,
      queue,
      recording: {
        clock,
        add: span => {
          // A call that began before a reload ends with what is open then.
          const now = this.#open?.queue ?? queue
          now.add(span)
        },
        why: (caller, isFault, ms) =>
          this.#keeper.why(
            config.keep,
            { account: caller.payer?.account.id ?? null, isFault, ms },
            clock.monotonic(),
          ),
      },
    }
  }

  /** Here, so that the library is loaded where something is traced, and nowhere else. */
  async #openQueue(config: TracingConfig): Promise<ExportQueue> {
    const { openOtlp } = await import('./otlp.ts')
    const { clock, process } = this.#parts
    return new ExportQueue(openOtlp(config, process), this.#events(), clock)
  }

  #events(): ExportEvents {
    const { metrics, log } = this.#parts
    this.#spans ??= metrics.counter('tollgate_trace_spans_total', 'Spans of traces by what became of them', [
      'result',
    ])
    const spans = this.#spans
    for (const result of ['sent', 'dropped', 'failed']) spans.add([result], 0)
    return {
      counted: (result, count) => {
        spans.add([result], count)
      },
      fails: why => {
        log.warn({ why }, 'traces cannot be exported')
      },
      works: lost => {
        log.info({ lost }, 'traces are exported again')
      },
    }
  }

  #leave(queue: ExportQueue): void {
    const leaving = queue.close(PATIENCE).then(() => {
      this.#leaving.delete(leaving)
    })
    this.#leaving.add(leaving)
  }
}

/** Where exports go, and as whose. */
function leadsTo({ endpoint, headers }: TracingConfig): string {
  return JSON.stringify([endpoint, headers])
}

/** What a client that is believed says of its trace: whether it is recorded. Null where it says nothing that can be read. */
function sampledByParent({ trace }: TracedCaller): boolean | null {
  if (trace?.isBelieved !== true) return null
  return parseTraceparent(trace.traceparent)?.isSampled ?? null
}
