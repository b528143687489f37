/** Where a command writes. */
import { fstatSync, readSync, statSync } from 'node:fs'
import { devNull } from 'node:os'
import type { Writable } from 'node:stream'

/** Why something that was written has not arrived, and what the reader should know of it. */
export interface Lost {
  readonly error: NodeJS.ErrnoException
  /** What was done and cannot be read there; empty where nothing was. */
  readonly done: string
}

const CLOSED: NodeJS.ErrnoException = Object.assign(new Error('ECLOSED: it is closed'), { code: 'ECLOSED' })

/**
 * Whether a stream was closed when the program was started. Node.js then opens /dev/null for reading and writing in its place, and so do some who
 * throw away what a program of theirs prints; a shell opens it for writing only.
 */
function isClosed(stream: Writable & { readonly fd?: unknown }): boolean {
  const { fd } = stream
  try {
    if (typeof fd !== 'number' || fstatSync(fd).rdev !== statSync(devNull).rdev) return false
    readSync(fd, Buffer.alloc(1))
    return true
  } catch {
    return false
  }
}

/**
 * stdout or stderr. A reader such as `head` that has seen enough is no failure of ours: what is written then is dropped, and lost only where it says
 * what was done.
 */
export class Output {
  readonly #stream: Writable
  #error: NodeJS.ErrnoException | null = null
  #done = ''

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => {
      this.#error ??= error
    })
  }

  /** Writes a line; `done` is a sentence for whoever cannot read it there, `once` that it can be read nowhere else. */
  line(text: string, done = '', once = false): void {
    if (once && this.#error === null && isClosed(this.#stream)) this.#error = CLOSED
    const lost = (): void => {
      if (done !== '') this.#done = done
    }
    if (this.#error !== null) lost()
    else
      this.#stream.write(`${text}\n`, error => {
        if (error != null) lost()
      })
  }

  /** Resolves once more may be written; false when nobody reads it any more. */
  drained(): Promise<boolean> {
    const stream = this.#stream
    return new Promise(resolve => {
      const over = (): void => {
        stream.off('drain', over).off('error', over).off('close', over)
        // An error of the last write is told in a turn of its own.
        setImmediate(() => {
          resolve(this.#error === null && !stream.destroyed)
        })
      }
      if (this.#error !== null || stream.destroyed || !stream.writableNeedDrain) over()
      else stream.on('drain', over).on('error', over).on('close', over)
    })
  }

  /** Resolves once everything is written; to what was lost, or null. */
  async written(): Promise<Lost | null> {
    // Node.js calls back in the order of the writes, and tells the error of one in a turn of its own.
    if (this.#error === null && this.#stream.writableLength > 0) await this.#drainedWhole()
    await new Promise(setImmediate)
    const error = this.#error
    return error === null || (error.code === 'EPIPE' && this.#done === '')
      ? null
      : { error, done: this.#done }
  }

  #drainedWhole(): Promise<void> {
    return new Promise(resolve => {
      this.#stream.write('', () => {
        resolve()
      })
    })
  }
}
