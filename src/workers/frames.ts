/** Messages on a byte stream: four bytes of length, big-endian, and so many bytes of JSON (fleet, section 8.2). */

/** Bytes of one message at most: an hour of usage of a hundred thousand endpoints. */
export const MOST = 64 * 1024 * 1024
const HEAD = 4

/** One message as it is sent. */
export function frameOf(message: unknown): Buffer {
  const json = Buffer.from(JSON.stringify(message))
  if (json.length > MOST) throw new Error(`a message of ${json.length} bytes is too long`)
  const head = Buffer.alloc(HEAD)
  head.writeUInt32BE(json.length)
  return Buffer.concat([head, json])
}

/** Puts messages together from the pieces in which a stream brings them. */
export class Frames {
  #pieces: Buffer[] = []
  #size = 0

  /** The messages that are whole with this piece. Throws what cannot be a message: the stream is of no use then. */
  add(piece: Buffer): unknown[] {
    this.#pieces.push(piece)
    this.#size += piece.length
    const messages: unknown[] = []
    for (;;) {
      const length = this.#length()
      if (length === null || this.#size < HEAD + length) return messages
      const all = this.#whole()
      const end = HEAD + length
      messages.push(JSON.parse(all.toString('utf8', HEAD, end)))
      this.#pieces = [all.subarray(end)]
      this.#size = all.length - end
    }
  }

  /** How long the next message is; null while that has not come. */
  #length(): number | null {
    if (this.#size < HEAD) return null
    const [first] = this.#pieces
    const length = (first!.length >= HEAD ? first! : this.#whole()).readUInt32BE()
    if (length > MOST) throw new Error(`a message of ${length} bytes is too long`)
    return length
  }

  #whole(): Buffer {
    const [first, second] = this.#pieces
    const all = first !== undefined && second === undefined ? first : Buffer.concat(this.#pieces)
    this.#pieces = [all]
    return all
  }
}
