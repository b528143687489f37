/**
 * What a record of the journal says: JSON, an entry for each cell that is charged or given back. A cell is named by its place among those that
 * are to be folded; its first entry says whose it is too. The view `charges` (schema.ts) reads the entries of places that are not folded yet.
 */
import type { Cell } from './cell.ts'

/** The entry of a cell; calls and requests are negative when they are given back. */
export function entryOf(cell: Cell, calls: number, requests: number): string {
  const { place } = cell
  if (cell.named) return `[${place},${calls},${requests}]`
  cell.named = true
  const { account, endpoint, network, method, hour, window } = cell
  return JSON.stringify([place, calls, requests, account, endpoint, network, method, hour, window])
}
