/**
 * Short messages past ws's receiver, which is a stream and slices each frame into four buffers: nearly every call comes as one frame in one read.
 * Whatever else comes is left to ws, with its errors and close codes (RFC 6455, section 5.2).
 */
import { isUtf8 } from 'node:buffer'
import type { WebSocket } from 'ws'

/** Of ws's receiver: how it is given what came, and what says that it is between two messages, each of them 0 then. */
interface Receiver {
  write(bytes: Buffer): boolean
  /** What it has found wrong: it reads nothing further, and says so only when the reads of this turn are over. */
  readonly errored: Error | null
  readonly _state: number
  readonly _bufferedBytes: number
  readonly _fragmented: number
  readonly _maxPayload: number
}

/** The first byte of a text frame that is whole. */
const WHOLE_TEXT = 0x81
/** The second byte of a masked frame: this, and the length up to 125, or what says that two bytes follow with it. */
const MASKED = 0x80
const TWO_BYTES = MASKED + 126
const MASK = 4

/** Called with the bytes that ws has read, and how many of them it buffers; `kept` is null if it also buffers bytes of an earlier read. */
type Rest = (bytes: number, kept: number | null) => void

/** Passes complete text frames to the listeners of `socket`; calls `rest` for what ws reads itself. */
export function readWholeFrames(socket: WebSocket, rest: Rest): void {
  const receiver = (socket as unknown as { readonly _receiver: Receiver })._receiver
  const write = receiver.write.bind(receiver)
  const mayPass = (): boolean =>
    socket.readyState === socket.OPEN &&
    receiver.errored === null &&
    receiver._state === 0 &&
    receiver._bufferedBytes === 0 &&
    receiver._fragmented === 0
  receiver.write = bytes => {
    let at = 0
    while (at < bytes.length && mayPass()) {
      const payload = payloadAt(bytes, at, receiver._maxPayload)
      if (payload === null) break
      at = payload.byteOffset - bytes.byteOffset + payload.length
      socket.emit('message', payload, false)
    }
    if (at === bytes.length) return true
    const goesOn = write(at === 0 ? bytes : bytes.subarray(at))
    const length = bytes.length - at
    const keepsOlder = receiver._fragmented !== 0 || receiver._bufferedBytes > length
    rest(length, keepsOlder ? null : receiver._bufferedBytes)
    return goesOn
  }
}

/** The payload of the frame at `at`, unmasked where it lies; null where that is not a whole text frame of at most `most` bytes. */
function payloadAt(bytes: Buffer, at: number, most: number): Buffer | null {
  if (bytes.length < at + 2 || bytes[at] !== WHOLE_TEXT) return null
  const second = bytes[at + 1]!
  if (second < MASKED || second > TWO_BYTES) return null
  const maskAt = second === TWO_BYTES ? at + 4 : at + 2
  const begin = maskAt + MASK
  if (bytes.length < begin) return null
  const length = second === TWO_BYTES ? bytes.readUInt16BE(at + 2) : second - MASKED
  const end = begin + length
  if (bytes.length < end || !(length <= most)) return null
  for (let i = begin; i < end; i += 1) bytes[i]! ^= bytes[maskAt + ((i - begin) & 3)]!
  const payload = bytes.subarray(begin, end)
  if (isUtf8(payload)) return payload
  // ws refuses it, and reads it unmasked.
  bytes.fill(0, maskAt, begin)
  return null
}
