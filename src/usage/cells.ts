/** Finds the cell of a call without building a key per call. */
import { emptyCell } from './cell.ts'
import type { Cell, CellKey } from './cell.ts'

/** The cells in use now, by endpoint and method; holds the latest hour of each. */
export class Cells {
  readonly #byEndpoint = new Map<string, Map<string, Cell>>()
  readonly #touched = new Set<Cell>()

  /** The cell of a key, marked as having something for the ledger. */
  touch(key: CellKey): Cell {
    const cell = this.#find(key)
    this.#touched.add(cell)
    return cell
  }

  /** Marks a cell that is held already. */
  touchAgain(cell: Cell): void {
    this.#touched.add(cell)
  }

  /** How many cells the next fold has to write. */
  get size(): number {
    return this.#touched.size
  }

  /** What has come to each touched cell. */
  contents(): readonly Cell[] {
    return [...this.#touched]
  }

  /** Empties the cells that the ledger has taken over, and forgets endpoints that were quiet meanwhile. */
  clear(written: readonly Cell[]): void {
    const live = new Set(written.map(cell => cell.endpoint))
    for (const cell of written) {
      this.#touched.delete(cell)
      Object.assign(cell, emptyCell(cell))
    }
    if (this.#byEndpoint.size > 20_000)
      for (const endpoint of this.#byEndpoint.keys())
        if (!live.has(endpoint)) this.#byEndpoint.delete(endpoint)
  }

  #find(key: CellKey): Cell {
    const methods = this.#byEndpoint.get(key.endpoint) ?? new Map<string, Cell>()
    if (methods.size === 0) this.#byEndpoint.set(key.endpoint, methods)
    const cell = methods.get(key.method)
    if (cell?.hour === key.hour && cell.window === key.window) return cell
    const fresh = emptyCell(key)
    methods.set(key.method, fresh)
    return fresh
  }
}
