/** One connection between two processes that ask each other questions. */
import type { Socket } from 'node:net'
import { Away } from '../ports/store-unavailable.ts'
import { Frames, frameOf } from './frames.ts'

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
