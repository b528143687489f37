/** Plain counters by labels: cheap to add to, read out at each scrape. */
import type { Sample } from './series.ts'

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
