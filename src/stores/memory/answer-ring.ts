/**
 * A ring buffer of kept answers outside of the heap, so that the garbage collector never visits them and memory stays within the bound
 * (bench/cache.ts). New records overwrite the oldest. A hash table with chains finds a record; its whole key is compared. Chains go from newer
 * to older records, so one ends where it comes to a record that was overwritten, and nobody has to take that out of it.
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
const KEY_BYTES = 3
const RESULT_BYTES = 4
const ORIGIN = 5
/** A number of 8 bytes: the position of the next record of its chain. */
const NEXT = 6
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

/**
 * A place is the index of a record's first word; it is valid until the next `add`. A position counts all words ever written, so it distinguishes a
 * record from those that were overwritten at the same place.
 */
export class AnswerRing {
  readonly #bytes: Buffer
  readonly #words: Uint32Array
  readonly #numbers: Float64Array
  /** Positions of the first records of the chains. */
  readonly #chains: Float64Array
  readonly #dropped: (origin: number) => void
  /** The key of the last `find`. Shared, so that every ring hashes alike and records keep their hashes where they are moved. */
  static readonly #key = new AnswerKey()
  /** Records of the chain that the last `find` passed, and the place of the last of them. */
  #passed = 0
  #before = NONE
  /** The positions of the next record and of the first word of the buffer. None is 0: that is where a chain without records begins. */
  #end: number
  #begin: number
  #used = 0

  /** Holds at most `bytes`. `dropped` is called with the origin of each record that is overwritten. */
  constructor(bytes: number, dropped: (origin: number) => void, perChain = PER_CHAIN) {
    const buffer = allocate(Math.min(bytes, LARGEST))
    this.#bytes = Buffer.from(buffer)
    this.#words = new Uint32Array(buffer)
    this.#numbers = new Float64Array(buffer)
    this.#chains = new Float64Array(2 ** Math.ceil(Math.log2(Math.max(1, buffer.byteLength / perChain))))
    this.#dropped = dropped
    this.#begin = this.#end = this.#words.length
  }

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
    this.#before = NONE
    const oldest = this.#end - this.#used
    let position = this.#chains[this.#chainOf(AnswerRing.#key.hash)]!
    while (position >= oldest && this.#passed < LONGEST) {
      const at = this.#placeAt(position)
      if (this.#isLookedFor(at)) return at
      this.#passed += 1
      this.#before = at
      position = this.#numbers[(at + NEXT) / 2]!
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
    const before = at - this.#oldest
    return (before < 0 ? before + this.#words.length : before) < this.#used * OLD
  }

  /** Removes what the last `find` has found, at this place; the memory is reused once it is the oldest. */
  remove(at: number): void {
    const next = this.#numbers[(at + NEXT) / 2]!
    if (this.#before === NONE) this.#chains[this.#chainOf(this.#words[at + HASH]!)] = next
    else this.#numbers[(this.#before + NEXT) / 2] = next
    this.#words[at + IS_LIVE] = 0
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
        other.#words[from + IS_LIVE] = 0
      }
      other.#dropOldest()
    }
  }

  /** Drops the oldest records until at most so many bytes are in use. */
  shrink(bytes: number): void {
    while (this.bytes > bytes) this.#dropOldest()
  }

  /** Puts the newest record, which is at this place, at the head of its chain. */
  #link(at: number): void {
    const chain = this.#chainOf(this.#words[at + HASH]!)
    this.#numbers[(at + NEXT) / 2] = this.#chains[chain]!
    this.#chains[chain] = this.#end - this.#words[at + SIZE]!
  }

  #isLookedFor(at: number): boolean {
    const [words, key] = [this.#words, AnswerRing.#key]
    const isAlike = words[at + HASH] === key.hash && words[at + KEY_BYTES] === key.length
    return isAlike && words[at + IS_LIVE] === 1 && key.isAt(words, at + HEADER)
  }

  #chainOf(hash: number): number {
    return (hash ^ (hash >>> 16)) & (this.#chains.length - 1)
  }

  /** Where a record is that was not overwritten. */
  #placeAt(position: number): number {
    return position - this.#begin + (position < this.#begin ? this.#words.length : 0)
  }

  get #oldest(): number {
    return this.#placeAt(this.#end - this.#used)
  }

  /** Reserves so many contiguous words. */
  #placeOf(size: number): number {
    const at = this.#end - this.#begin
    const left = this.#words.length - at
    if (left < size) {
      this.#makeRoom(left)
      this.#words[at + SIZE] = left
      this.#words[at + IS_LIVE] = 0
      this.#take(left)
      return this.#placeOf(size)
    }
    this.#makeRoom(size)
    this.#take(size)
    return at
  }

  #take(size: number): void {
    this.#used += size
    this.#end += size
    if (this.#end - this.#begin === this.#words.length) this.#begin = this.#end
  }

  #makeRoom(size: number): void {
    while (this.#words.length - this.#used < size) this.#dropOldest()
  }

  #dropOldest(): void {
    const [words, oldest] = [this.#words, this.#oldest]
    this.#used -= words[oldest + SIZE]!
    if (words[oldest + IS_LIVE] === 1) this.#dropped(words[oldest + ORIGIN]!)
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
