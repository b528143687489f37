/** Counts of durations by upper bound, for one label or none; prom-client's looks its labels up at every observation. */
import { labelText } from './series.ts'

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
