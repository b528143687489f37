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
    this.#idAt = headOf(this.lengthWith(id)).length + this.#before.length
    this.#idLength = id.length
    return Buffer.from(textFrame(this.#before + id + this.#after), 'latin1')
  }
}

/** A message as one text frame. */
export function textFrame(message: Raw): Raw {
  return headOf(message.length) + message
}

/** The bytes of a text frame before its payload of so many bytes; a server masks nothing. */
export function headOf(length: number): Raw {
  if (length <= SHORT) return String.fromCharCode(WHOLE_TEXT, length)
  const [third, last] = [(length >>> 8) & 0xff, length & 0xff]
  if (length <= TWO_BYTES) return String.fromCharCode(WHOLE_TEXT, SHORT + 1, third, last)
  const [first, second] = [length >>> 24, (length >>> 16) & 0xff]
  return String.fromCharCode(WHOLE_TEXT, SHORT + 2, 0, 0, 0, 0, first, second, third, last)
}
