/** The config object of a Solana call. */
import type { Raw } from '../../jsonrpc/raw.ts'

/** The object at its place, or before it where optional params were left out. */
export function configOf(at: number | null, elements: readonly Raw[]): Raw | null {
  if (at === null) return null
  return elements.slice(0, at + 1).findLast(element => element.charCodeAt(0) === 123) ?? null
}
