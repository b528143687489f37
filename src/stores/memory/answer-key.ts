/** The key that an answer is looked for by, as words of 4 bytes, and its hash. */
import { randomInt } from 'node:crypto'
import type { Raw } from '../../jsonrpc/raw.ts'

/** One at a time: its memory is used again for the next. */
export class AnswerKey {
  /** Nobody outside knows it. */
  readonly #seed: number
  #bytes = Buffer.alloc(0)
  /** The key's, the last one filled with zeros, and then what longer keys have left. */
  words = new Uint32Array(0)
  /** Of the key. */
  length = 0
  hash = 0

  constructor(seed = randomInt(2 ** 32)) {
    this.#seed = seed
  }

  take(key: Raw): void {
    const length = wordsOf(key.length)
    if (length > this.words.length) {
      this.#bytes = Buffer.from(new ArrayBuffer(length * 8))
      this.words = new Uint32Array(this.#bytes.buffer)
    }
    const { words } = this
    if (length > 0) words[length - 1] = 0
    this.#bytes.write(key, 0, 'latin1')
    this.length = key.length
    // As FNV-1a, over words; the high bits of one step go into the low ones of the next.
    let hash = this.#seed ^ key.length
    for (let i = 0; i < length; i += 1) {
      hash = Math.imul(hash ^ words[i]!, 0x01000193)
      hash ^= hash >>> 15
    }
    this.hash = hash >>> 0
  }

  /** Whether it stands at this word of others. */
  isAt(others: Uint32Array, at: number): boolean {
    const { words } = this
    const length = wordsOf(this.length)
    for (let i = 0; i < length; i += 1) if (others[at + i] !== words[i]) return false
    return true
  }

  /** Writes it to this word of others. */
  writeTo(others: Uint32Array, at: number): void {
    const { words } = this
    const length = wordsOf(this.length)
    for (let i = 0; i < length; i += 1) others[at + i] = words[i]!
  }
}

/** Words that so many bytes take. */
export function wordsOf(bytes: number): number {
  return (bytes + 3) >>> 2
}
