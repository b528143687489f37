/** One message of a subscription as its clients get it: a WebSocket text frame (RFC 6455, section 5.2) in which only the id differs. */
import type { Raw } from '../../jsonrpc/raw.ts'

/** The first byte of a text frame that is whole. */
const WHOLE_TEXT = 0x81
/** Bytes of a payload up to which its length stands in the second byte, and up to which it stands in two bytes more. */
const SHORT = 125
const TWO_BYTES = 0xffff

/** Encoded once for all clients whose ids have one length; each gets a copy with its own id. */
export class NotificationFrame {
  readonly #before: Raw
  readonly #after: Raw
  #template: Buffer | null = null
  #idAt = 0
  #idLength = 0

  constructor([before, after]: readonly [before: Raw, after: Raw]) {
    this.#before = before
    this.#after = after
  }

  /** Bytes of the message with this id. */
  lengthWith(id: Raw): number {
    return this.#before.length + id.length + this.#after.length
  }

  /** The frame with this id. */
  with(id: Raw): Buffer {
    if (this.#template === null || id.length !== this.#idLength) this.#template = this.#encode(id)
    const bytes = Buffer.from(this.#template)
    bytes.write(id, this.#idAt, 'latin1')
    return bytes
  }

  #encode(id: Raw): Buffer {
    const head = headOf(this.lengthWith(id))
    this.#idAt = head.length + this.#before.length
    this.#idLength = id.length
    return Buffer.concat([head, Buffer.from(this.#before + id + this.#after, 'latin1')])
  }
}

/** The bytes before the payload; a server masks nothing. */
function headOf(length: number): Buffer {
  if (length <= SHORT) return Buffer.from([WHOLE_TEXT, length])
  const head = Buffer.alloc(length <= TWO_BYTES ? 4 : 10)
  head[0] = WHOLE_TEXT
  head[1] = length <= TWO_BYTES ? SHORT + 1 : SHORT + 2
  if (length <= TWO_BYTES) head.writeUInt16BE(length, 2)
  else head.writeBigUInt64BE(BigInt(length), 2)
  return head
}
