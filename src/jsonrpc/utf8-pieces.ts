/** Whether bytes that come in pieces are UTF-8 (RFC 3629), as JSON has to be. */
import { isUtf8 } from 'node:buffer'

const NONE = Buffer.alloc(0)

/** Looks at pieces of one text in their order. */
export class Utf8Pieces {
  /** The first bytes of a character whose last ones come with the next piece. */
  #begun: Buffer = NONE

  /** Whether what has come so far can be UTF-8. */
  feed(piece: Buffer): boolean {
    const bytes = this.#begun.length === 0 ? piece : Buffer.concat([this.#begun, piece])
    const whole = bytes.length - begunAtEnd(bytes)
    this.#begun = whole === bytes.length ? NONE : Buffer.from(bytes.subarray(whole))
    return isUtf8(bytes.subarray(0, whole))
  }

  /** Whether it has ended behind a character. */
  get isWhole(): boolean {
    return this.#begun.length === 0
  }
}

/** How many bytes at the end are of a character that needs more of them. */
function begunAtEnd(bytes: Buffer): number {
  for (let back = 1; back <= 3 && back <= bytes.length; back += 1) {
    const byte = bytes[bytes.length - back]!
    if (byte < 0x80) return 0
    if (byte >= 0xc0) return back < (byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2) ? back : 0
  }
  return 0
}
