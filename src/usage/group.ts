/** The charges of a few calls, committed together. */
import type { Cell } from './cell.ts'

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

  /** The journal record of this group: JSON that `JournalEntry` describes. */
  entries(): string {
    let text = ''
    for (const cell of this.charged)
      text += `,${entryStart(cell)}${cell.waitingCalls},${cell.waitingRequests}]`
    for (const { cell, calls, requests } of this.givenBack)
      text += `,${entryStart(cell)}${-calls},${-requests}]`
    return `[${text.slice(1)}]`
  }
}

/** The part of an entry that is the same for every charge of a cell. */
function entryStart(cell: Cell): string {
  if (cell.entry !== null) return cell.entry
  const { account, endpoint, network, method, hour, window } = cell
  return (cell.entry = `${JSON.stringify([account, endpoint, network, method, hour, window]).slice(0, -1)},`)
}
