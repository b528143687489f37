/** Numbers that nodes send: JSON integers, or strings that spell one in hex or decimal. Anything else is not a number. */
import type { Raw } from './raw.ts'

/** Characters of a number as it was sent: of 256 bits in hex with its quotes, and some. */
const LONGEST = 80
const INTEGER = /^\d+$/
const SPELLED = /^"(0x[0-9a-f]+|\d+)"$/i

/** The number that a raw JSON value holds; null for any other value, and for what is negative or not exact (2^53 and more). */
export function readQuantity(raw: Raw | null | undefined): number | null {
  if (raw == null || raw.length > LONGEST) return null
  const text = INTEGER.test(raw) ? raw : SPELLED.exec(raw)?.[1]
  return text === undefined ? null : exact(Number(text))
}

/** The same of a decoded value. */
export function asQuantity(value: unknown): number | null {
  if (typeof value === 'string') return readQuantity(`"${value}"`)
  return typeof value === 'number' ? exact(value) : null
}

function exact(number: number): number | null {
  return Number.isSafeInteger(number) && number >= 0 ? number : null
}
