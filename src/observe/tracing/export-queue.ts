/** Spans on their way to the collector: they wait here, some go together, and none is waited for. */
import type { Span } from './span.ts'

/** Spans that wait at most; further ones are dropped. */
const MOST = 2_048
/** Spans of one export: to write them takes half a millisecond of the event loop. */
const BATCH = 128
/** Milliseconds that fewer wait for more. */
const LINGER = 1_000

/** Brings spans to a collector. */
export interface Exporter {
  /** Resolves when they were taken; rejects with `Unsent` where they were not, in good time. */
  export(spans: readonly Span[]): Promise<void>
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
  /** Exports begin to fail. */
  fails(why: string): void
  /** They work again; so many spans were lost meanwhile. */
  works(lost: number): void
}

/** Bounded: what the collector does not take is dropped, and counted. */
export class ExportQueue {
  readonly #exporter: Exporter
  readonly #events: ExportEvents
  #waiting: Span[] = []
  /** Those on their way. */
  #leaving = 0
  #linger: NodeJS.Timeout | null = null
  /** Called when nothing waits any more; null as long as it is open. */
  #drained: (() => void) | null = null
  #isOver = false
  /** Spans that were lost since exports began to fail; null while they work. */
  #lost: number | null = null

  constructor(exporter: Exporter, events: ExportEvents) {
    this.#exporter = exporter
    this.#events = events
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
      () => {
        this.#ended(spans.length, null)
      },
      (error: unknown) => {
        this.#ended(spans.length, error instanceof Unsent ? error.message : 'a bug')
      },
    )
  }

  #ended(spans: number, why: string | null): void {
    if (this.#isOver) return
    this.#leaving = 0
    if (why === null) this.#sent(spans)
    else {
      if (this.#lost === null) {
        this.#lost = 0
        this.#events.fails(why)
      }
      this.#lose('failed', spans)
    }
    if (this.#waiting.length >= BATCH || this.#drained !== null) this.#send()
    else if (this.#waiting.length > 0) this.#linger ??= setTimeout(this.#send, LINGER).unref()
  }

  #sent(spans: number): void {
    this.#events.counted('sent', spans)
    if (this.#lost === null) return
    this.#events.works(this.#lost)
    this.#lost = null
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
