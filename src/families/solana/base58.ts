/** Base58 in Bitcoin's alphabet, as Solana writes keys, signatures and blockhashes. */

const ALPHABET = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz'
const VALUES = new Map(Array.from(ALPHABET).map((digit, value) => [digit, value]))
/** Digits taken at a time: as many as fit a number exactly. */
const STEP = 8
/** Longest text that is decoded: the largest transaction of any version, and some more. */
const LONGEST = 8_192

/** The text of these bytes. */
export function encodeBase58(bytes: Uint8Array): string {
  const zeros = leading(bytes, 0)
  let left = zeros === bytes.length ? 0n : BigInt(`0x${Buffer.from(bytes).toString('hex')}`)
  let text = ''
  while (left > 0n) {
    text = ALPHABET.charAt(Number(left % 58n)) + text
    left /= 58n
  }
  return ALPHABET.charAt(0).repeat(zeros) + text
}

/** The bytes of a text; null when it is no base58, or longer than any transaction. */
export function decodeBase58(text: string): Buffer | null {
  if (text.length > LONGEST) return null
  let value = 0n
  for (let at = 0; at < text.length; at += STEP) {
    const part = text.slice(at, at + STEP)
    const number = numberOf(part)
    if (number === null) return null
    value = value * BigInt(58 ** part.length) + BigInt(number)
  }
  const hex = value === 0n ? '' : value.toString(16)
  const zeros = leading(text, ALPHABET.charAt(0))
  return Buffer.from('00'.repeat(zeros) + (hex.length % 2 === 0 ? hex : `0${hex}`), 'hex')
}

function numberOf(digits: string): number | null {
  let number = 0
  for (const digit of digits) {
    const value = VALUES.get(digit)
    if (value === undefined) return null
    number = number * 58 + value
  }
  return number
}

function leading<T>(items: ArrayLike<T>, value: T): number {
  let count = 0
  while (count < items.length && items[count] === value) count += 1
  return count
}
