/** The journal port on journal.db. */
import type { Charge, Journal, Settlement } from '../../../ports/journal.ts'
import type { Payer } from '../../../ports/limits.ts'
import type { Cell } from './cell.ts'
import type { Group } from './group.ts'
import type { Ledger } from './ledger.ts'

/** Charges go into the group that is open, and count for the cell of their endpoint, method and hour. */
export class UsageJournal implements Journal {
  readonly #ledger: Ledger

  constructor(ledger: Ledger) {
    this.#ledger = ledger
  }

  get failure(): Error | null {
    return this.#ledger.failure
  }

  charge(payer: Payer, method: string, units: number, period: number, now: number): CellCharge {
    const cell = this.#ledger.cell(payer, method, now, period)
    return new CellCharge(this.#ledger, cell, units, this.#ledger.charge(cell, units))
  }

  refused(payer: Payer, method: string, reason: string, now: number): void {
    const cell = this.#ledger.refusedCell(payer, method, now)
    cell.refusals += 1
    cell.reasons ??= new Map()
    cell.reasons.set(reason, (cell.reasons.get(reason) ?? 0) + 1)
  }
}

/** One call's part of a cell and of a group. */
export class CellCharge implements Charge {
  readonly #ledger: Ledger
  readonly cell: Cell
  readonly units: number
  readonly group: Group

  constructor(ledger: Ledger, cell: Cell, units: number, group: Group) {
    this.#ledger = ledger
    this.cell = cell
    this.units = units
    this.group = group
  }

  commit(): boolean | Promise<boolean> {
    return this.group.settled()
  }

  get isLost(): boolean {
    return this.group.state === 'failed'
  }

  async giveBack(): Promise<void> {
    // There is nothing to take back of what was never recorded.
    if (!this.isLost) await this.#ledger.giveBack(this.cell, 1, this.units).settled()
  }

  settle({ error, bytesOut, upstreamMs }: Settlement): void {
    const cell = this.cell
    if (error) cell.errors += 1
    cell.bytesOut += bytesOut
    cell.upstreamMs += upstreamMs
    this.#ledger.touch(cell)
  }
}
