/** Block numbers as nodes send them. */
import type { Raw } from '../../jsonrpc/raw.ts'

const QUANTITY = /^"(0x[0-9a-f]{1,14}|\d{1,16})"$/i
const INTEGER = /^\d{1,16}$/

/** The number that a raw JSON string or integer spells; null for everything else, and for what is not a safe integer. */
export function blockNumberOf(raw: Raw | null | undefined): number | null {
  if (raw == null || raw.length > 18) return null
  const text = INTEGER.test(raw) ? raw : QUANTITY.exec(raw)?.[1]
  const number = Number(text)
  return text !== undefined && Number.isSafeInteger(number) ? number : null
}
