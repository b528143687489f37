/** Finds where a JSON value ends while its bytes come in pieces. */

const QUOTE = 34
const BACKSLASH = 92

/** Follows one object, array or string; it does not check the value, it only never misses its end. */
export class ValueEnd {
  #depth = 0
  #inString = false
  #escaped = false

  /** Index after the value within this piece, or -1 while it goes on. */
  feed(piece: Buffer): number {
    const plain = !piece.includes(BACKSLASH)
    let i = 0
    while (i < piece.length) {
      if (!this.#inString) i = this.#outside(piece, i)
      else i = plain && !this.#escaped ? this.#jump(piece, i) : this.#step(piece, i)
      if (this.#depth === 0 && !this.#inString) return i
    }
    return -1
  }

  #outside(piece: Buffer, at: number): number {
    const c = piece[at]
    if (c === QUOTE) this.#inString = true
    else if (c === 123 || c === 91) this.#depth += 1
    else if (c === 125 || c === 93) this.#depth -= 1
    return at + 1
  }

  /** Within a string, over a piece that has no escapes. */
  #jump(piece: Buffer, at: number): number {
    const quote = piece.indexOf(QUOTE, at)
    if (quote < 0) return piece.length
    this.#inString = false
    return quote + 1
  }

  #step(piece: Buffer, at: number): number {
    const c = piece[at]
    if (this.#escaped) this.#escaped = false
    else if (c === BACKSLASH) this.#escaped = true
    else if (c === QUOTE) this.#inString = false
    return at + 1
  }
}
