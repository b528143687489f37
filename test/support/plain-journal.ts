/** The port Journal written as plainly as it can be: an array, committed a turn later. */
import type { Charge, Journal, Settlement } from '../../src/ports/journal.ts'
import type { Payer } from '../../src/ports/limits.ts'

/** What was recorded of one method of an endpoint. */
export interface Recorded {
  calls: number
  requests: number
  errors: number
  refusals: number
  bytesOut: number
}

/** Takes what it is given while `isOpen`. */
export class PlainJournal implements Journal {
  readonly recorded = new Map<string, Recorded>()
  isOpen = true
  #commit: Promise<boolean> | null = null

  get failure(): Error | null {
    return this.isOpen ? null : new Error('nothing is taken')
  }

  charge({ endpoint }: Payer, method: string, units: number): Charge {
    const row = this.#row(endpoint.id, method)
    const commit = (this.#commit ??= this.#write())
    let isLost = false
    const recorded = commit.then(isWritten => {
      isLost = !isWritten
      if (isWritten) add(row, { calls: 1, requests: units })
      return isWritten
    })
    return {
      units,
      commit: () => commit,
      get isLost() {
        return isLost
      },
      giveBack: async () => {
        if (await recorded) add(row, { calls: -1, requests: -units })
      },
      settle: ({ error, bytesOut }: Settlement) => {
        add(row, { errors: error ? 1 : 0, bytesOut })
      },
    }
  }

  refused({ endpoint }: Payer, method: string): void {
    add(this.#row(endpoint.id, method), { refusals: 1 })
  }

  async #write(): Promise<boolean> {
    await new Promise(resolve => setImmediate(resolve))
    this.#commit = null
    return this.isOpen
  }

  #row(endpoint: string, method: string): Recorded {
    const key = `${endpoint} ${method}`
    const row = this.recorded.get(key) ?? { calls: 0, requests: 0, errors: 0, refusals: 0, bytesOut: 0 }
    this.recorded.set(key, row)
    return row
  }
}

function add(row: Recorded, amounts: Partial<Recorded>): void {
  for (const [name, amount] of Object.entries(amounts)) row[name as keyof Recorded] += amount
}
