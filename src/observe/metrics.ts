/** Prometheus metrics (design, "Admin listener and metrics"). Every label's value comes from the snapshot or from us. */
import { setImmediate as turn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import { collectProcessMetrics } from './process-metrics.ts'
import { linesOf } from './series.ts'
import type { Sample, Series } from './series.ts'
import { Histogram, Tally } from './tally.ts'
import type {
  AttemptObservation,
  CacheObservation,
  NotificationObservation,
  Observation,
  RefusedMessage,
} from '../ports/observer.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
/** Fewer, as there may be thousands of routes. */
const ATTEMPT_SECONDS = [0.01, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30]
const OVERHEAD_SECONDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1]

/** Lines of a scrape after which the clock is read, and milliseconds after which calls get their turn. */
const LINES_A_LOOK = 100
const SLICE = 5

/** All metrics of this process. */
export class Metrics {
  /** What Node.js tells of itself. */
  readonly registry = new Registry()
  readonly #series: Series[] = []
  readonly #calls = this.counter('tollgate_calls_total', 'Calls by outcome', [
    'network',
    'method',
    'plan',
    'transport',
    'outcome',
  ])
  readonly #requests = this.counter('tollgate_requests_total', 'Request units (costs of calls) billed', [
    'network',
    'plan',
  ])
  readonly #refusals = this.counter('tollgate_refusals_total', 'Refusals by reason', [
    'network',
    'plan',
    'reason',
  ])
  readonly #attempts = this.counter('tollgate_attempts_total', 'Tries at routes by result', [
    'network',
    'route',
    'result',
  ])
  readonly #notifications = this.counter('tollgate_ws_notifications_total', 'Messages of subscriptions', [
    'network',
  ])
  readonly #cacheCalls = this.counter(
    'tollgate_cache_calls_total',
    'Calls of methods whose answers may be kept, by what came of it',
    ['network', 'method', 'result'],
  )
  readonly #kept = this.counter('tollgate_cache_kept_total', 'Answers that were kept', ['network', 'method'])
  readonly #mismatches = this.counter(
    'tollgate_cache_mismatches_total',
    'Answers that show another block than was asked for, and so were not kept',
    ['network', 'route'],
  )
  readonly #shared = this.counter(
    'tollgate_shared_calls_total',
    'Calls in whose place an equal call in flight was sent upstream',
    ['network', 'method'],
  )
  readonly #duration = new Histogram(
    'tollgate_call_duration_seconds',
    'From the arrival of a call to the end of its reply',
    SECONDS,
    ['network', 'plan', 'transport', 'class'],
  )
  readonly #attemptDuration = new Histogram(
    'tollgate_attempt_duration_seconds',
    'Tries at routes',
    ATTEMPT_SECONDS,
    ['network', 'route'],
  )
  readonly #overhead = new Histogram(
    'tollgate_overhead_seconds',
    'The same without the time that upstreams took',
    OVERHEAD_SECONDS,
    ['network'],
  )
  readonly #commit = new Histogram(
    'tollgate_journal_commit_seconds',
    'Commits of the usage journal',
    OVERHEAD_SECONDS,
    [],
  )

  readonly #histograms = [this.#duration, this.#overhead, this.#attemptDuration, this.#commit]

  /** A scrape that is being written. */
  #text: Promise<Buffer> | null = null

  constructor() {
    collectProcessMetrics(this.registry)
  }

  call(seen: Observation): void {
    const { network, method, plan, transport, outcome } = seen
    this.#calls.add([network, method, plan, transport, outcome])
    if (seen.requests > 0) this.#requests.add([network, plan], seen.requests)
    if (seen.reason !== null) this.#refusals.add([network, plan, seen.reason])
    if (seen.cache !== null) this.#cacheCalls.add([network, method, seen.cache])
    if (seen.shared) this.#shared.add([network, method])
    this.#duration.observe([network, plan, transport, seen.rowClass], seen.totalMs / 1000)
    this.#overhead.observe([network], Math.max(0, seen.totalMs - seen.upstreamMs) / 1000)
  }

  attempt({ network, route, result, ms }: AttemptObservation): void {
    this.#attempts.add([network, route, result])
    this.#attemptDuration.observe([network, route], ms / 1000)
  }

  cached({ network, method, route, event }: CacheObservation): void {
    if (event === 'kept') this.#kept.add([network, method])
    else this.#mismatches.add([network, route])
  }

  notification({ network, plan, requests }: NotificationObservation): void {
    this.#notifications.add([network])
    if (requests > 0) this.#requests.add([network, plan], requests)
  }

  refused({ network, plan, reason }: Pick<RefusedMessage, 'network' | 'plan' | 'reason'>): void {
    this.#refusals.add([network, plan, reason])
  }

  committed(seconds: number): void {
    this.#commit.observe([], seconds)
  }

  /** A counter that is added to where things happen. */
  counter(name: string, help: string, labelNames: string[]): Tally {
    const tally = new Tally()
    this.#series.push({ name, help, type: 'counter', labelNames, read: () => tally.entries() })
    return tally
  }

  /** A histogram without labels. */
  histogram(name: string, help: string, bounds: readonly number[]): Histogram {
    const histogram = new Histogram(name, help, bounds, [])
    this.#histograms.push(histogram)
    return histogram
  }

  /** A gauge whose values are asked for at each scrape. */
  gauge(name: string, help: string, labelNames: string[], read: () => Iterable<Sample>): void {
    this.#series.push({ name, help, type: 'gauge', labelNames, read })
  }

  /** A counter that is kept elsewhere, and read at each scrape. */
  counted(name: string, help: string, labelNames: string[], read: () => Iterable<Sample>): void {
    this.#series.push({ name, help, type: 'counter', labelNames, read })
  }

  /** Everything in the text format of Prometheus, as UTF-8. Who asks while it is being written gets the same bytes. */
  text(): Promise<Buffer> {
    this.#text ??= this.#write().finally(() => (this.#text = null))
    return this.#text
  }

  /** In slices of time, with turns for the calls in between. */
  async #write(): Promise<Buffer> {
    const parts: Buffer[] = []
    let part = ''
    let lines = 0
    let begin = performance.now()
    for (const line of this.#lines()) {
      part += line
      lines += 1
      if (lines % LINES_A_LOOK !== 0) continue
      // Here, since what is put together at the end would be written in one piece.
      parts.push(Buffer.from(part))
      part = ''
      if (performance.now() - begin < SLICE) continue
      await turn()
      begin = performance.now()
    }
    return joined([...parts, Buffer.from(part), Buffer.from(await this.registry.metrics())])
  }

  *#lines(): Generator<string> {
    for (const series of this.#series) yield* linesOf(series)
    for (const histogram of this.#histograms) yield* histogram.lines()
  }
}

/** As Buffer.concat, in slices of time: memory that was not used before costs a system milliseconds for each MiB. */
async function joined(parts: readonly Buffer[]): Promise<Buffer> {
  const whole = Buffer.allocUnsafe(parts.reduce((length, part) => length + part.length, 0))
  let at = 0
  let begin = performance.now()
  for (const part of parts) {
    at += part.copy(whole, at)
    if (performance.now() - begin < SLICE) continue
    await turn()
    begin = performance.now()
  }
  return whole
}
