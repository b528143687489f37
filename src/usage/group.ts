/** The charges of one loop turn, committed together. */
import type { Cell, JournalEntry } from './cell.ts'

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
  #waiting: (() => void)[] = []

  charge(cell: Cell, requests: number): void {
    add(this.charged, cell, 1, requests)
  }

  giveBack(cell: Cell, calls: number, requests: number): void {
    add(this.givenBack, cell, -calls, -requests)
  }

  /** Resolves once the commit was tried; `state` says how it went. */
  settled(): Promise<void> {
    if (this.state !== 'open') return Promise.resolve()
    return new Promise(resolve => this.#waiting.push(resolve))
  }

  close(state: 'committed' | 'failed'): void {
    this.state = state
    for (const resolve of this.#waiting) resolve()
    this.#waiting = []
  }

  /** What the journal record of this group holds. */
  entries(): JournalEntry[] {
    return [...this.charged, ...this.givenBack].map(([cell, { calls, requests }]) => [
      cell.account,
      cell.endpoint,
      cell.network,
      cell.method,
      cell.hour,
      cell.window,
      calls,
      requests,
    ])
  }
}

function add(sums: Map<Cell, Sum>, cell: Cell, calls: number, requests: number): void {
  const sum = sums.get(cell)
  if (sum === undefined) sums.set(cell, { calls, requests })
  else {
    sum.calls += calls
    sum.requests += requests
  }
}
