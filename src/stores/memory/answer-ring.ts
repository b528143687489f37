/**
 * A ring buffer of kept answers outside of the heap, so that the garbage collector never visits them and memory stays within the bound
 * (bench/cache.ts). New records overwrite the oldest. A hash table with chains finds a record; its whole key is compared.
 */
import { constants } from 'node:buffer'
import type { AnswerBounds } from '../../ports/answer-cache.ts'
import type { Raw } from '../../jsonrpc/raw.ts'
import { AnswerKey, wordsOf } from './answer-key.ts'

// The layout of a record, in words of 4 bytes. The key begins at HEADER, the result at the next whole word.
/** Words of the whole record: even, because doubles are aligned to 8 bytes. */
const SIZE = 0
/** 0 once removed. Padding at the end of the buffer has only a size and this field. */
const IS_LIVE = 1
const HASH = 2
/** The place of the next record of its chain, plus 1. */
const NEXT = 3
const KEY_BYTES = 4
const RESULT_BYTES = 5
const ORIGIN = 6
/** Three numbers of 8 bytes: `until`, `tip.block` and `tip.height`. */
const BOUNDS = 8
const HEADER = 14

/** Bytes that an answer takes besides its key and its result, of which either fills whole words. */
export const PER_ANSWER = HEADER * 4

/** Records in one chain at most; a further one is not kept, so that colliding keys cannot slow lookups down. */
const LONGEST = 64
/** Bytes of the buffer for each chain. */
const PER_CHAIN = 128
/** Bytes of the largest buffer: 4 GiB where Node.js has no longer ones, and as far as words are counted with 32 bits. */
const LARGEST = Math.min(constants.MAX_LENGTH, 4 * (2 ** 32 - 2))
/** The oldest part of the buffer, in which a record counts as old. */
const OLD = 1 / 4

/** No record found. */
export const NONE = -1

/** A place is the index of a record's first word; it is valid until the next `add`. */
export class AnswerRing {
  readonly #bytes: Buffer
  readonly #words: Uint32Array
  readonly #numbers: Float64Array
  /** Places of the first records of the chains, plus 1. */
  readonly #chains: Uint32Array
  readonly #dropped: (origin: number) => void
  /** The key of the last `find`. Shared, so that every ring hashes alike and records keep their hashes where they are moved. */
  static readonly #key = new AnswerKey()
  /** Records of the chain that the last `find` passed. */
  #passed = 0
  #oldest = 0
  #next = 0
  #used = 0

  /** Holds at most `bytes`. `dropped` is called with the origin of each record that is overwritten. */
  constructor(bytes: number, dropped: (origin: number) => void, perChain = PER_CHAIN) {
    const buffer = allocate(Math.min(bytes, LARGEST))
    this.#bytes = Buffer.from(buffer)
    this.#words = new Uint32Array(buffer)
    this.#numbers = new Float64Array(buffer)
    this.#chains = new Uint32Array(2 ** Math.ceil(Math.log2(Math.max(1, buffer.byteLength / perChain))))
    this.#dropped = dropped
  }

  /** Bytes of the buffer. */
  get capacity(): number {
    return this.#bytes.length
  }

  /** Bytes in use, including removed records that have not been overwritten yet. */
  get bytes(): number {
    return this.#used * 4
  }

  /** Whether a record of this size fits into the buffer at all. */
  fits(key: Raw, result: Raw): boolean {
    return sizeOf(key, result) <= this.#words.length
  }

  find(key: Raw): number {
    AnswerRing.#key.take(key)
    this.#passed = 0
    for (let at = this.#first(); at !== NONE; at = this.#after(at)) {
      if (this.#isLookedFor(at)) return at
      this.#passed += 1
    }
    return NONE
  }

  /** The origin that `add` was given. */
  originOf(at: number): number {
    return this.#words[at + ORIGIN]!
  }

  resultOf(at: number): Raw {
    const begin = (at + HEADER + wordsOf(this.#words[at + KEY_BYTES]!)) * 4
    return this.#bytes.toString('latin1', begin, begin + this.#words[at + RESULT_BYTES]!)
  }

  boundsOf(at: number): AnswerBounds | null {
    const first = (at + BOUNDS) / 2
    const until = this.#numbers[first]!
    if (until === Infinity) return null
    const block = this.#numbers[first + 1]!
    return { until, tip: block < 0 ? null : { block, height: this.#numbers[first + 2]! } }
  }

  /** Whether it will be overwritten soon. */
  isOld(at: number): boolean {
    const words = this.#words.length
    return (at - this.#oldest + words) % words < this.#used * OLD
  }

  /** Removes it from its chain; the memory is reused once it is the oldest. */
  remove(at: number): void {
    const words = this.#words
    let before = NONE
    for (let each = this.#first(words[at + HASH]); each !== at; each = this.#after(each)) before = each
    const next = words[at + NEXT]!
    if (before === NONE) this.#chains[this.#chainOf(words[at + HASH]!)] = next
    else words[before + NEXT] = next
    words[at + IS_LIVE] = 0
  }

  /** Adds a record that fits, under the key of the last `find`, which must have found none. Returns false if its chain is full. */
  add(key: Raw, result: Raw, origin: number, bounds: AnswerBounds | null): boolean {
    if (this.#passed >= LONGEST) return false
    const size = sizeOf(key, result)
    const at = this.#placeOf(size)
    const [words, numbers] = [this.#words, this.#numbers]
    words[at + SIZE] = size
    words[at + IS_LIVE] = 1
    words[at + HASH] = AnswerRing.#key.hash
    words[at + KEY_BYTES] = key.length
    words[at + RESULT_BYTES] = result.length
    words[at + ORIGIN] = origin
    const first = (at + BOUNDS) / 2
    numbers[first] = bounds === null ? Infinity : bounds.until
    numbers[first + 1] = bounds?.tip == null ? -1 : bounds.tip.block
    numbers[first + 2] = bounds?.tip == null ? -1 : bounds.tip.height
    AnswerRing.#key.writeTo(words, at + HEADER)
    this.#bytes.write(result, (at + HEADER + wordsOf(key.length)) * 4, 'latin1')
    this.#link(at)
    return true
  }

  /** Moves the oldest records of a smaller ring here, about so many bytes. */
  takeOldest(other: AnswerRing, bytes: number): void {
    for (const until = other.bytes - bytes; other.bytes > 0 && other.bytes > until;) {
      const from = other.#oldest
      const end = from + other.#words[from + SIZE]!
      if (other.#words[from + IS_LIVE] === 1) {
        const at = this.#placeOf(end - from)
        this.#words.set(other.#words.subarray(from, end), at)
        this.#link(at)
        other.remove(from)
      }
      other.#dropOldest()
    }
  }

  /** Drops the oldest records until at most so many bytes are in use. */
  shrink(bytes: number): void {
    while (this.bytes > bytes) this.#dropOldest()
  }

  /** Puts it at the head of its chain. */
  #link(at: number): void {
    const chain = this.#chainOf(this.#words[at + HASH]!)
    this.#words[at + NEXT] = this.#chains[chain]!
    this.#chains[chain] = at + 1
  }

  #isLookedFor(at: number): boolean {
    const [words, key] = [this.#words, AnswerRing.#key]
    return (
      words[at + HASH] === key.hash && words[at + KEY_BYTES] === key.length && key.isAt(words, at + HEADER)
    )
  }

  #chainOf(hash: number): number {
    return (hash ^ (hash >>> 16)) & (this.#chains.length - 1)
  }

  #first(hash = AnswerRing.#key.hash): number {
    return this.#chains[this.#chainOf(hash)]! - 1
  }

  #after(at: number): number {
    return this.#words[at + NEXT]! - 1
  }

  /** Reserves so many contiguous words. */
  #placeOf(size: number): number {
    const left = this.#words.length - this.#next
    if (left < size) {
      this.#makeRoom(left)
      this.#words[this.#next + SIZE] = left
      this.#words[this.#next + IS_LIVE] = 0
      this.#take(left)
    }
    this.#makeRoom(size)
    const at = this.#next
    this.#take(size)
    return at
  }

  #take(size: number): void {
    this.#used += size
    this.#next = (this.#next + size) % this.#words.length
  }

  #makeRoom(size: number): void {
    while (this.#words.length - this.#used < size) this.#dropOldest()
  }

  #dropOldest(): void {
    const words = this.#words
    const oldest = this.#oldest
    const length = words[oldest + SIZE]!
    this.#used -= length
    this.#oldest = (oldest + length) % words.length
    if (words[oldest + IS_LIVE] === 0) return
    this.remove(oldest)
    this.#dropped(words[oldest + ORIGIN]!)
  }
}

/** A multiple of 8 bytes, whose pages the system maps on first write; smaller if the system refuses. */
function allocate(bytes: number): ArrayBuffer {
  const whole = Math.floor(bytes / 8) * 8
  try {
    return new ArrayBuffer(whole)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    return allocate(whole / 2)
  }
}

/** Words of a record: an even number. */
function sizeOf(key: Raw, result: Raw): number {
  return (HEADER + wordsOf(key.length) + wordsOf(result.length) + 1) & ~1
}
