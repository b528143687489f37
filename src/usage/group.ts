/** The charges of a few calls, committed together. */
import type { Cell } from './cell.ts'

interface Sum {
  calls: number
  requests: number
}

/** Charges that wait for one commit, and the calls that wait for it with them. */
export class Group {
  state: 'open' | 'committed' | 'failed' = 'open'
  /** Charges and give-backs apart: a failed commit drops the first and must not lose the second. */
  readonly charged = new Map<Cell, Sum>()
  readonly givenBack = new Map<Cell, Sum>()
  #tried: Promise<void> | null = null
  #tell: () => void = () => undefined
  readonly #hurry: () => void

  /** `hurry` is called when something begins to wait for the commit. */
  constructor(hurry: () => void) {
    this.#hurry = hurry
  }

  charge(cell: Cell, requests: number): void {
    add(this.charged, cell, 1, requests)
  }

  giveBack(cell: Cell, calls: number, requests: number): void {
    add(this.givenBack, cell, -calls, -requests)
  }

  /** Resolves once the commit was tried; `state` says how it went. */
  settled(): Promise<void> {
    // One promise for all calls of the turn.
    this.#tried ??= new Promise(resolve => {
      if (this.state !== 'open') {
        resolve()
        return
      }
      this.#tell = resolve
      this.#hurry()
    })
    return this.#tried
  }

  close(state: 'committed' | 'failed'): void {
    this.state = state
    this.#tell()
  }

  /** The journal record of this group: JSON that `JournalEntry` describes. */
  entries(): string {
    let text = ''
    for (const sums of [this.charged, this.givenBack])
      for (const [cell, { calls, requests }] of sums)
        text += `${text === '' ? '[' : ','}${entryStart(cell)}${calls},${requests}]`
    return `${text}]`
  }
}

/** The part of an entry that is the same for every charge of a cell. */
function entryStart(cell: Cell): string {
  const { account, endpoint, network, method, hour, window } = cell
  cell.entry ??= `${JSON.stringify([account, endpoint, network, method, hour, window]).slice(0, -1)},`
  return cell.entry
}

function add(sums: Map<Cell, Sum>, cell: Cell, calls: number, requests: number): void {
  const sum = sums.get(cell)
  if (sum === undefined) sums.set(cell, { calls, requests })
  else {
    sum.calls += calls
    sum.requests += requests
  }
}
