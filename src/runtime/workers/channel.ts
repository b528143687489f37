/** One connection between two processes that ask each other questions. */
import type { Socket } from 'node:net'
import { Away } from '../../ports/store-unavailable.ts'

/** Bytes that may wait to be sent: beyond that the other side does not read, and asking it is of no use. */
const MOST_WAITING = 128 * 1024 * 1024

/** Questions by their names: what is said with one, and what is told to it. */
export type Vocabulary<Q> = { readonly [T in keyof Q]: { readonly said: object; readonly told: object } }

/** Answers the questions of the other side. What it throws is told as the reason of a failure. */
export type Answers<Q extends Vocabulary<Q>> = {
  readonly [T in keyof Q]: (said: Q[T]['said']) => Q[T]['told'] | Promise<Q[T]['told']>
}

/** What can be said: `t` names it. */
export type Spoken = Readonly<Record<'t', string> & Record<string, unknown>>

interface Waiting {
  readonly resolve: (told: object) => void
  readonly reject: (error: Error) => void
}

interface Message {
  readonly t: string
  readonly id?: number
  readonly failed?: string
}

/** Asks and answers; ends with its connection. */
export class Channel<Asked extends Vocabulary<Asked>, Answered extends Vocabulary<Answered>> {
  readonly #socket: Socket
  readonly #answers: Answers<Answered>
  readonly #waiting = new Map<number, Waiting>()
  #last = 0

  constructor(
    socket: Socket,
    answers: Answers<Answered>,
    heard: (message: Message) => void = () => undefined,
  ) {
    this.#socket = socket
    this.#answers = answers
    const frames = new Frames()
    socket.on('data', piece => {
      try {
        for (const message of frames.add(piece)) this.#hear(message as Message, heard)
      } catch {
        socket.destroy()
      }
    })
    // What went wrong is told to those who wait, when it closes.
    socket.on('error', () => undefined)
    socket.on('close', () => {
      for (const { reject } of this.#waiting.values()) reject(new Away('the connection was lost'))
      this.#waiting.clear()
    })
  }

  /** Says something that has no answer. */
  say(message: Spoken): void {
    if (!this.#socket.destroyed) this.#socket.write(frameOf(message))
  }

  /** Asks; rejects when the connection is lost, or with what the other side says went wrong. */
  ask<T extends keyof Asked & string>(t: T, said: Asked[T]['said']): Promise<Asked[T]['told']> {
    if (this.#socket.destroyed) return Promise.reject(new Away('the connection was lost'))
    if (this.#socket.writableLength > MOST_WAITING)
      return Promise.reject(new Away('the other side does not read'))
    this.#last += 1
    const id = this.#last
    return new Promise((resolve, reject) => {
      this.#waiting.set(id, { resolve, reject })
      this.say({ t, id, ...said })
    })
  }

  /** Ends the connection behind what was said. */
  end(): void {
    this.#socket.end()
  }

  #hear(message: Message, heard: (message: Message) => void): void {
    const { t, id, failed } = message
    if (t === 'told' && id !== undefined) {
      const waiting = this.#waiting.get(id)
      this.#waiting.delete(id)
      if (failed === undefined) waiting?.resolve(message)
      else waiting?.reject(new Error(failed))
    } else if (id !== undefined && Object.hasOwn(this.#answers, t))
      void this.#answer(t as keyof Answered, id, message)
    else heard(message)
  }

  async #answer(t: keyof Answered, id: number, said: object): Promise<void> {
    try {
      this.say({ ...(await this.#answers[t](said)), t: 'told', id })
    } catch (error) {
      this.say({ t: 'told', id, failed: (error as Error).message })
    }
  }
}

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
