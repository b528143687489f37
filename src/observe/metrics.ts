/** Prometheus metrics (design, "Admin listener and metrics"). Every label's value comes from the snapshot or from us. */
import { setImmediate as turn } from 'node:timers/promises'
import { Registry } from 'prom-client'
import type { Reason } from '../refusal/table.ts'
import { collectProcessMetrics } from './process-metrics.ts'
import { linesOf, labelText } from './series.ts'
import type { Sample, Series } from './series.ts'
import type { AttemptObservation, NotificationObservation, Observation } from '../ports/observer.ts'

const SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60]
const OVERHEAD_SECONDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.005, 0.01, 0.05, 0.1, 0.5, 1]

/** Lines of a scrape after which the clock is read, and milliseconds after which calls get their turn. */
const LINES_A_LOOK = 100
const SLICE = 5

/** All metrics of this process. */
export class Metrics {
  /** What Node.js tells of itself. */
  readonly registry = new Registry()
  readonly #series: Series[] = []
  readonly #calls = this.#tally('tollgate_calls_total', 'Calls by outcome', [
    'network',
    'method',
    'plan',
    'transport',
    'outcome',
  ])
  readonly #requests = this.#tally('tollgate_requests_total', 'Requests (units of cost) billed', [
    'network',
    'plan',
  ])
  readonly #refusals = this.#tally('tollgate_refusals_total', 'Refusals by reason', ['reason'])
  readonly #attempts = this.#tally('tollgate_attempts_total', 'Tries at routes by result', [
    'network',
    'route',
    'result',
  ])
  readonly #attemptSeconds = this.#tally('tollgate_attempt_seconds_sum', 'Seconds spent on tries', [
    'network',
    'route',
  ])
  readonly #attemptCount = this.#tally('tollgate_attempt_seconds_count', 'Tries timed', ['network', 'route'])
  readonly #notifications = this.#tally('tollgate_ws_notifications_total', 'Messages of subscriptions', [
    'network',
  ])
  readonly #duration = new Histogram(
    'tollgate_call_duration_seconds',
    'From the arrival of a call to the end of its reply',
    SECONDS,
    'network',
  )
  readonly #overhead = new Histogram(
    'tollgate_overhead_seconds',
    'The same without the time that upstreams took',
    OVERHEAD_SECONDS,
    'network',
  )
  readonly #commit = new Histogram(
    'tollgate_journal_commit_seconds',
    'Commits of the usage journal',
    OVERHEAD_SECONDS,
    null,
  )

  /** A scrape that is being written. */
  #text: Promise<Buffer> | null = null

  constructor() {
    collectProcessMetrics(this.registry)
  }

  call(seen: Observation): void {
    const { network, method, plan, transport, outcome } = seen
    this.#calls.add([network, method, plan, transport, outcome])
    if (seen.requests > 0) this.#requests.add([network, plan], seen.requests)
    if (seen.reason !== null) this.#refusals.add([seen.reason])
    this.#duration.observe(network, seen.totalMs / 1000)
    this.#overhead.observe(network, Math.max(0, seen.totalMs - seen.upstreamMs) / 1000)
  }

  attempt({ network, route, result, ms }: AttemptObservation): void {
    this.#attempts.add([network, route, result])
    this.#attemptSeconds.add([network, route], ms / 1000)
    this.#attemptCount.add([network, route])
  }

  notification({ network, plan, requests }: NotificationObservation): void {
    this.#notifications.add([network])
    if (requests > 0) this.#requests.add([network, plan], requests)
  }

  refused(reason: Reason): void {
    this.#refusals.add([reason])
  }

  committed(seconds: number): void {
    this.#commit.observe('', seconds)
  }

  /** A gauge whose values are asked for at each scrape. */
  gauge(name: string, help: string, labelNames: string[], read: () => Iterable<Sample>): void {
    this.#series.push({ name, help, type: 'gauge', labelNames, read })
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
    return Buffer.concat([...parts, Buffer.from(part), Buffer.from(await this.registry.metrics())])
  }

  *#lines(): Generator<string> {
    for (const series of this.#series) yield* linesOf(series)
    for (const histogram of [this.#duration, this.#overhead, this.#commit]) yield* histogram.lines()
  }

  #tally(name: string, help: string, labelNames: string[]): Tally {
    const tally = new Tally()
    this.#series.push({ name, help, type: 'counter', labelNames, read: () => tally.entries() })
    return tally
  }
}

interface Cell {
  readonly labels: readonly string[]
  value: number
}

interface Node {
  readonly next: Map<string, Node>
  cell: Cell | null
}

/** Counters in a tree of label values, so that counting joins no strings. */
export class Tally {
  readonly #root = newNode()
  readonly #cells: Cell[] = []

  /** Adds to the counter of these label values. */
  add(labels: readonly string[], by = 1): void {
    let node = this.#root
    for (const label of labels) {
      let next = node.next.get(label)
      if (next === undefined) node.next.set(label, (next = newNode()))
      node = next
    }
    if (node.cell === null) this.#cells.push((node.cell = { labels, value: by }))
    else node.cell.value += by
  }

  /** All counters, each with its label values. */
  *entries(): Generator<Sample> {
    for (const { labels, value } of this.#cells) yield [labels, value]
  }
}

function newNode(): Node {
  return { next: new Map<string, Node>(), cell: null }
}

interface Counts {
  /** How many fell under each bound and above the one before; the last is without a bound. */
  readonly buckets: number[]
  sum: number
}

/** Seconds by value of `label`; without a label every observation is given the empty value. */
export class Histogram {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #label: string | null
  readonly #counts = new Map<string, Counts>()

  constructor(name: string, help: string, bounds: readonly number[], label: string | null) {
    this.#name = name
    this.#help = help
    this.#bounds = bounds
    this.#label = label
    if (label === null) this.#countsOf('')
  }

  observe(value: string, seconds: number): void {
    const counts = this.#countsOf(value)
    let i = 0
    while (i < this.#bounds.length && seconds > this.#bounds[i]!) i += 1
    counts.buckets[i]! += 1
    counts.sum += seconds
  }

  /** In the text format of Prometheus: buckets are cumulative there. */
  *lines(): Generator<string> {
    yield `# HELP ${this.#name} ${this.#help}\n# TYPE ${this.#name} histogram\n`
    for (const [value, { buckets, sum }] of this.#counts) {
      const own = this.#label === null ? '' : labelText([this.#label], [value])
      let count = 0
      for (const [i, bucket] of buckets.entries()) {
        count += bucket
        const le = labelText(['le'], [i < this.#bounds.length ? String(this.#bounds[i]) : '+Inf'])
        yield `${this.#name}_bucket{${own === '' ? le : `${own},${le}`}} ${count}\n`
      }
      const labels = own === '' ? '' : `{${own}}`
      yield `${this.#name}_sum${labels} ${sum}\n${this.#name}_count${labels} ${count}\n`
    }
    yield '\n'
  }

  #countsOf(value: string): Counts {
    const known = this.#counts.get(value)
    if (known !== undefined) return known
    const fresh = { buckets: new Array<number>(this.#bounds.length + 1).fill(0), sum: 0 }
    this.#counts.set(value, fresh)
    return fresh
  }
}
