/** Where a command writes. */
import type { Writable } from 'node:stream'

/** stdout or stderr. A reader such as `head` that has seen enough is no failure of ours: what is written then is dropped. */
export class Output {
  readonly #stream: Writable
  #isClosed = false

  constructor(stream: Writable) {
    this.#stream = stream
    stream.on('error', (error: NodeJS.ErrnoException) => {
      if (error.code !== 'EPIPE') throw error
      this.#isClosed = true
    })
  }

  /** Writes a line. */
  line(text: string): void {
    if (!this.#isClosed) this.#stream.write(`${text}\n`)
  }

  /** Resolves once more may be written; false when nobody reads it any more. */
  drained(): Promise<boolean> {
    const stream = this.#stream
    return new Promise(resolve => {
      const over = (): void => {
        stream.off('drain', over).off('error', over).off('close', over)
        // An error of the last write is told in a turn of its own.
        setImmediate(() => {
          resolve(!this.#isClosed && !stream.destroyed)
        })
      }
      if (this.#isClosed || stream.destroyed || !stream.writableNeedDrain) over()
      else stream.on('drain', over).on('error', over).on('close', over)
    })
  }
}
