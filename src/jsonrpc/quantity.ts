/** Numbers that nodes send: JSON integers, or strings that spell one in hex or decimal. Anything else is not a number. */
import { decodeJson } from './raw.ts'
import type { Raw } from './raw.ts'

/** Characters of a number as it was sent: of 256 bits in hex with its quotes, and some. */
const LONGEST = 80

/** The number that a raw JSON value holds; null for any other value, and for what is negative or not exact (2^53 and more). */
export function readQuantity(raw: Raw | null | undefined): number | null {
  return raw == null || raw.length > LONGEST ? null : asQuantity(decodeJson(raw))
}

/** The same of a decoded value. */
export function asQuantity(value: unknown): number | null {
  const number = typeof value === 'string' && /^(0x[0-9a-f]+|[0-9]+)$/i.test(value) ? Number(value) : value
  return typeof number === 'number' && Number.isSafeInteger(number) && number >= 0 ? number : null
}
