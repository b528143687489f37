/** The key of a lookup, as words of 4 bytes, and its hash. */
import { randomInt } from 'node:crypto'
import type { Raw } from '../../jsonrpc/raw.ts'

/** Holds one key at a time and reuses its memory. */
export class AnswerKey {
  /** Secret, so that no caller can construct keys with equal hashes. */
  readonly #seed: number
  #bytes = Buffer.alloc(0)
  /** The key, its last word padded with zeros; beyond it, remains of longer keys. */
  words = new Uint32Array(0)
  /** Bytes of the key. */
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
    // FNV-1a over words. Folding the high bits down makes every character of a word count.
    let hash = this.#seed ^ key.length
    for (let i = 0; i < length; i += 1) {
      hash = Math.imul(hash ^ words[i]!, 0x01000193)
      hash ^= hash >>> 15
    }
    this.hash = hash >>> 0
  }

  /** Whether `others` holds the key from word `at` on. */
  isAt(others: Uint32Array, at: number): boolean {
    const { words } = this
    const length = wordsOf(this.length)
    for (let i = 0; i < length; i += 1) if (others[at + i] !== words[i]) return false
    return true
  }

  /** Writes the key into `others` from word `at` on. */
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
