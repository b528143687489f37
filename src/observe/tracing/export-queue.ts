/** Spans on their way to the collector: they wait here, some go together, and none is waited for. */
import type { Clock } from '../../ports/clock.ts'
import type { Span } from './span.ts'

/** Spans that wait at most; further ones are dropped. */
const MOST = 2_048
/** Spans of one export: to write them takes half a millisecond of the event loop. */
const BATCH = 128
/** Milliseconds that fewer wait for more. */
const LINGER = 1_000
/** Milliseconds between two reports of failing exports. */
const QUIET = 60_000

/** Brings spans to a collector. */
export interface Exporter {
  /** Resolves with how many the collector did not accept of those that it got; rejects with `Unsent` where it got none, in good time. */
  export(spans: readonly Span[]): Promise<number>
  /** Cuts what is under way. */
  destroy(): void
}

/** Why spans were not taken, in words that hold no secret. */
export class Unsent extends Error {}

/** What became of spans. */
export type SpanResult = 'sent' | 'dropped' | 'failed'

/** What is heard of exports. */
export interface ExportEvents {
  counted(result: SpanResult, spans: number): void
  /** Exports begin to fail: reported at most once a minute, as some may fail and others not. */
  fails(why: string): void
  /** They work again; so many spans were lost meanwhile. */
  works(lost: number): void
}

/** Bounded: what the collector does not take is dropped, and counted. */
export class ExportQueue {
  readonly #exporter: Exporter
  readonly #events: ExportEvents
  readonly #clock: Pick<Clock, 'monotonic'>
  #waiting: Span[] = []
  /** Those on their way. */
  #leaving = 0
  #linger: NodeJS.Timeout | null = null
  /** Called when nothing waits any more; null as long as it is open. */
  #drained: (() => void) | null = null
  #isOver = false
  /** Spans lost since failing exports were reported; null once they work. */
  #lost: number | null = null
  /** When failing exports were last reported. */
  #reportedAt = -Infinity

  constructor(exporter: Exporter, events: ExportEvents, clock: Pick<Clock, 'monotonic'>) {
    this.#exporter = exporter
    this.#events = events
    this.#clock = clock
  }

  /** Takes a span. */
  add(span: Span): void {
    if (this.#isOver || this.#waiting.length >= MOST) {
      this.#lose('dropped', 1)
      return
    }
    this.#waiting.push(span)
    if (this.#leaving > 0) return
    if (this.#waiting.length >= BATCH || this.#drained !== null) this.#soon()
    else this.#linger ??= setTimeout(this.#send, LINGER).unref()
  }

  /** Exports what waits, for `patience` milliseconds; what has not left by then is lost, as all that comes later is. */
  async close(patience: number): Promise<void> {
    if (this.#drained !== null || this.#isOver) return
    await new Promise<void>(resolve => {
      const timer = setTimeout(resolve, patience)
      this.#drained = () => {
        clearTimeout(timer)
        resolve()
      }
      if (this.#leaving === 0) this.#send()
    })
    this.#isOver = true
    this.#stopLinger()
    this.#lose('failed', this.#leaving)
    this.#lose('dropped', this.#waiting.length)
    this.#leaving = 0
    this.#waiting = []
    this.#exporter.destroy()
  }

  /** Not in the turn of a call. */
  #soon(): void {
    this.#stopLinger()
    this.#linger = setTimeout(this.#send, 0).unref()
  }

  readonly #send = (): void => {
    this.#stopLinger()
    const spans = this.#waiting.splice(0, BATCH)
    this.#leaving = spans.length
    if (spans.length === 0) {
      this.#drained?.()
      return
    }
    void this.#exporter.export(spans).then(
      rejected => {
        this.#ended(spans.length, rejected, rejected === 0 ? null : 'it rejects spans')
      },
      (error: unknown) => {
        this.#ended(spans.length, spans.length, error instanceof Unsent ? error.message : 'a bug')
      },
    )
  }

  #ended(spans: number, lost: number, why: string | null): void {
    if (this.#isOver) return
    this.#leaving = 0
    if (spans > lost) this.#events.counted('sent', spans - lost)
    if (why === null) this.#works()
    else this.#fails(why)
    this.#lose('failed', lost)
    if (this.#waiting.length >= BATCH || this.#drained !== null) this.#send()
    else if (this.#waiting.length > 0) this.#linger ??= setTimeout(this.#send, LINGER).unref()
  }

  #works(): void {
    if (this.#lost === null) return
    this.#events.works(this.#lost)
    this.#lost = null
  }

  #fails(why: string): void {
    const now = this.#clock.monotonic()
    if (this.#lost !== null || now - this.#reportedAt < QUIET) return
    this.#lost = 0
    this.#reportedAt = now
    this.#events.fails(why)
  }

  #lose(result: 'dropped' | 'failed', spans: number): void {
    if (spans === 0) return
    this.#events.counted(result, spans)
    if (this.#lost !== null) this.#lost += spans
  }

  #stopLinger(): void {
    if (this.#linger !== null) clearTimeout(this.#linger)
    this.#linger = null
  }
}
