import { randomInt } from 'node:crypto'

const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz'

/** `length` base62 characters from the system's CSPRNG, each of the 62 equally likely. */
export function randomBase62(length: number): string {
  let text = ''
  for (let i = 0; i < length; i++) text += DIGITS[randomInt(DIGITS.length)]!
  return text
}

/** A non-negative integer in base62, padded on the left to `width`. */
export function toBase62(value: number, width: number): string {
  let text = ''
  for (let rest = value; rest > 0; rest = Math.floor(rest / 62)) text = DIGITS[rest % 62]! + text
  return text.padStart(width, '0')
}
