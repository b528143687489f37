/** The charges of a few calls, committed together. */
import type { Cell } from './cells.ts'

/** What is given back of one cell. */
export interface GivenBack {
  readonly cell: Cell
  readonly calls: number
  readonly requests: number
}

/** Charges that wait for one commit, and the calls that wait for it with them. */
export class Group {
  state: 'open' | 'committed' | 'failed' = 'open'
  /** Cells with charges of this group, each once; how many is written in the cell. */
  readonly charged: Cell[] = []
  /** How many charges came so far. */
  charges = 0
  /** Apart from the charges: a failed commit drops those and must not lose these. */
  readonly givenBack: GivenBack[] = []
  #tried: Promise<boolean> | null = null
  #tell: ((committed: boolean) => void) | null = null
  readonly #hurry: () => void

  /** `hurry` is called when something begins to wait for the commit. */
  constructor(hurry: () => void) {
    this.#hurry = hurry
  }

  get isEmpty(): boolean {
    return this.charged.length === 0 && this.givenBack.length === 0
  }

  charge(cell: Cell, requests: number): void {
    this.charges += 1
    if (cell.waitingCalls === 0) this.charged.push(cell)
    cell.waitingCalls += 1
    cell.waitingRequests += requests
  }

  giveBack(cell: Cell, calls: number, requests: number): void {
    this.givenBack.push({ cell, calls, requests })
  }

  /** Whether the charges are on disk; a promise while their commit was not tried, one for all that ask. */
  settled(): boolean | Promise<boolean> {
    if (this.state !== 'open') return this.state === 'committed'
    this.#tried ??= new Promise(resolve => {
      this.#tell = resolve
      this.#hurry()
    })
    return this.#tried
  }

  close(state: 'committed' | 'failed'): void {
    this.state = state
    this.#tell?.(state === 'committed')
  }

  /** The journal record of this group. Its cells have their places. */
  record(): string {
    let entries = ''
    for (const cell of this.charged) entries += `,${entryOf(cell, cell.waitingCalls, cell.waitingRequests)}`
    for (const { cell, calls, requests } of this.givenBack) entries += `,${entryOf(cell, -calls, -requests)}`
    return `[${entries.slice(1)}]`
  }

  /** Its record was not written: the journal names none of its cells for sure. */
  forgetRecord(): void {
    for (const cell of this.charged) cell.named = false
    for (const { cell } of this.givenBack) cell.named = false
  }
}

/**
 * The entry of a cell in a journal record, which is JSON; calls and requests are negative when they are given back. A cell is named by its
 * place among those that are to be folded; its first entry says whose it is too. The view `charges` (schema.ts) reads the entries of places
 * that are not folded yet.
 */
export function entryOf(cell: Cell, calls: number, requests: number): string {
  const { place } = cell
  if (cell.named) return `[${place},${calls},${requests}]`
  cell.named = true
  const { account, endpoint, network, method, hour, window } = cell
  return JSON.stringify([place, calls, requests, account, endpoint, network, method, hour, window])
}
