/** Plain counters by labels: cheap to add to, read out at each scrape. */
export class Tally {
  readonly #cells = new Map<string, { readonly labels: readonly string[]; value: number }>()

  /** Adds to the counter of these label values. */
  add(labels: readonly string[], by = 1): void {
    const key = labels.join('\n')
    const cell = this.#cells.get(key)
    if (cell === undefined) this.#cells.set(key, { labels, value: by })
    else cell.value += by
  }

  /** All counters, each with its label values. */
  *entries(): Generator<readonly [readonly string[], number]> {
    for (const { labels, value } of this.#cells.values()) yield [labels, value]
  }
}
