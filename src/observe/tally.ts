/** Counters and histograms that a call adds to: cheaply, as each call adds to some. */
import { labelText } from './series.ts'
import type { Sample } from './series.ts'

interface Node<T> {
  readonly next: Map<string, Node<T>>
  value: T | null
}

/** Values by the values of labels, in a tree, so that a lookup joins no strings. */
class ByLabels<T> {
  readonly #root: Node<T> = { next: new Map(), value: null }
  readonly #make: () => T
  readonly #all: (readonly [labels: readonly string[], value: T])[] = []

  constructor(make: () => T) {
    this.#make = make
  }

  of(labels: readonly string[]): T {
    let node = this.#root
    for (const label of labels) {
      let next = node.next.get(label)
      if (next === undefined) node.next.set(label, (next = { next: new Map(), value: null }))
      node = next
    }
    if (node.value === null) this.#all.push([labels, (node.value = this.#make())])
    return node.value
  }

  /** In the order in which they came. */
  entries(): Iterable<readonly [labels: readonly string[], value: T]> {
    return this.#all
  }
}

/** Counters by the values of their labels. */
export class Tally {
  readonly #cells = new ByLabels(() => ({ count: 0 }))

  /** Adds to the counter of these label values. */
  add(labels: readonly string[], by = 1): void {
    this.#cells.of(labels).count += by
  }

  /** All counters, each with its label values. */
  *entries(): Generator<Sample> {
    for (const [labels, { count }] of this.#cells.entries()) yield [labels, count]
  }
}

interface Counts {
  /** How many fell under each bound and above the one before; the last is without a bound. */
  readonly buckets: number[]
  sum: number
}

/** Seconds by the values of labels; without a label there is one series, from the start. */
export class Histogram {
  readonly #name: string
  readonly #help: string
  readonly #bounds: readonly number[]
  readonly #labelNames: readonly string[]
  readonly #counts: ByLabels<Counts>

  constructor(name: string, help: string, bounds: readonly number[], labelNames: readonly string[]) {
    this.#name = name
    this.#help = help
    this.#bounds = bounds
    this.#labelNames = labelNames
    this.#counts = new ByLabels(() => ({ buckets: new Array<number>(bounds.length + 1).fill(0), sum: 0 }))
    if (labelNames.length === 0) this.#counts.of([])
  }

  observe(labels: readonly string[], seconds: number): void {
    const counts = this.#counts.of(labels)
    let i = 0
    while (i < this.#bounds.length && seconds > this.#bounds[i]!) i += 1
    counts.buckets[i]! += 1
    counts.sum += seconds
  }

  /** In the text format of Prometheus: buckets are cumulative there. */
  *lines(): Generator<string> {
    yield `# HELP ${this.#name} ${this.#help}\n# TYPE ${this.#name} histogram\n`
    for (const [values, { buckets, sum }] of this.#counts.entries()) {
      const own = labelText(this.#labelNames, values)
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
}
