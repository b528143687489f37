/**
 * A reply or request too long to be made in one turn of the event loop: its bytes are made piece by piece, and what held them is given back
 * as they leave. Joining its parts first would copy all of it, which costs V8 more than 100 ms for tens of MiB.
 */
import type { Raw } from './raw.ts'

/** Bytes above which a text is long, and those of one piece. */
export const LONG = 256 * 1024

/** A part of a text. */
export interface Part {
  readonly raw: Raw
  /** Called once, when the part and all before it have left. */
  readonly left?: () => void
}

/** The parts of one text, in order; they are let go of as they are taken. */
export class LongText {
  /** Bytes in all. */
  readonly length: number
  /** The last one first. */
  readonly #parts: Part[]
  /** Bytes of the first part that have been taken. */
  #taken = 0

  constructor(parts: readonly Part[]) {
    this.length = parts.reduce((sum, { raw }) => sum + raw.length, 0)
    this.#parts = parts.toReversed()
  }

  /** The same text behind another one; this one is not used further. */
  behind(raw: Raw): LongText {
    return new LongText([{ raw }, ...this.#parts.toReversed()])
  }

  /** The bytes, in pieces of `most` and a shorter last one. To ask for the next is to say that those before have left. To be called once. */
  *pieces(most: number): Generator<Buffer, undefined> {
    for (let rest = this.length; rest > 0; rest -= most) {
      const piece = Buffer.allocUnsafeSlow(Math.min(most, rest))
      const ended = this.#fill(piece)
      yield piece
      for (const left of ended) left()
    }
  }

  /** Writes the next bytes; gives what is to be called when they have left. */
  #fill(piece: Buffer): (() => void)[] {
    const ended: (() => void)[] = []
    let filled = 0
    while (filled < piece.length) {
      const part = this.#parts.at(-1)
      if (part === undefined) throw new Error('a text is shorter than its parts were')
      const text = part.raw.slice(this.#taken, this.#taken + piece.length - filled)
      filled += piece.write(text, filled, 'latin1')
      this.#taken += text.length
      if (this.#taken < part.raw.length) break
      this.#taken = 0
      this.#parts.pop()
      if (part.left !== undefined) ended.push(part.left)
    }
    return ended
  }
}
