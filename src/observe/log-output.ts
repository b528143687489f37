/** Where log lines go: a file, a terminal or a pipe that may take none for a while. No call waits for it. */
import { write, writeSync } from 'node:fs'
import { fileFault } from '../config/words/file-words.ts'

/** Bytes kept for a stalled reader; lines beyond are dropped. */
const MAX_HELD = 1024 * 1024

/** Bytes of one write; what cannot be written is dropped as a whole. */
const MAX_WRITE = 16 * 1024

/** Milliseconds before a full pipe is tried again. */
const RETRY = 100

/** Milliseconds that `close` waits for a stalled reader. */
const PATIENCE = 1_000

const NEWLINE = 10

/** What an output is, where it is not standard output. */
export interface OutputOptions {
  readonly name?: string
  /** Called behind the last line, or when that was given up: the descriptor is not used any more. */
  readonly closed?: () => void
}

/** Writes lines in their order, one write at a time; drops those that cannot be written and reports when that begins and when it is over. */
export class LogOutput {
  readonly #fd: number
  readonly #report: (sentence: string) => void
  readonly #name: string
  readonly #whenClosed: (() => void) | undefined
  #lines: string[] = []
  /** The write in flight, what is left of it. */
  #chunk: Buffer | null = null
  /** Bytes of lines that are not written yet. */
  #held = 0
  #dropped = 0
  /** Whether the last line that was written lacks its end. */
  #isTorn = false
  #closed: (() => void) | null = null

  /** `report` tells the operator by another way than the log. */
  constructor(
    fd: number,
    report: (sentence: string) => void,
    { name = 'stdout', closed }: OutputOptions = {},
  ) {
    this.#fd = fd
    this.#report = report
    this.#name = name
    this.#whenClosed = closed
    process.once('exit', this.#writeRest)
  }

  /** Takes a line with its newline. */
  write(line: string): void {
    const bytes = Buffer.byteLength(line)
    if (this.#held + bytes > MAX_HELD) {
      this.#drop(1, 'its reader is too slow')
      return
    }
    this.#lines.push(line)
    this.#held += bytes
    if (this.#chunk === null) this.#next()
  }

  /** Resolves once everything is written or dropped, or after a second. */
  close(): Promise<void> {
    return this.#written().then(() => {
      if (this.#whenClosed === undefined) return
      process.off('exit', this.#writeRest)
      this.#whenClosed()
    })
  }

  #written(): Promise<void> {
    if (this.#chunk === null) return Promise.resolve()
    return new Promise(resolve => {
      const timer = setTimeout(resolve, PATIENCE)
      this.#closed = () => {
        clearTimeout(timer)
        resolve()
      }
    })
  }

  #next(): void {
    this.#chunk = this.#take()
    if (this.#chunk === null) this.#closed?.()
    else this.#writeChunk()
  }

  /** The next lines as one write; null when there are none. */
  #take(): Buffer | null {
    if (this.#lines.length === 0) return null
    let bytes = 0
    let count = 0
    for (const line of this.#lines) {
      bytes += Buffer.byteLength(line)
      if (count > 0 && bytes > MAX_WRITE) break
      count++
    }
    const text = this.#lines.splice(0, count).join('')
    if (!this.#isTorn) return Buffer.from(text)
    this.#held++
    return Buffer.from(`\n${text}`)
  }

  #writeChunk(): void {
    const chunk = this.#chunk!
    write(this.#fd, chunk, 0, chunk.length, null, (error, written) => {
      if (error === null) this.#wrote(chunk, written)
      else if (isFull(error)) setTimeout(() => this.#writeChunk(), RETRY).unref()
      else this.#failed(chunk, error)
    })
  }

  #wrote(chunk: Buffer, written: number): void {
    this.#held -= written
    if (written > 0) this.#isTorn = chunk[written - 1] !== NEWLINE
    if (written < chunk.length) {
      this.#chunk = chunk.subarray(written)
      this.#writeChunk()
      return
    }
    if (this.#lines.length === 0) this.#recovered()
    this.#next()
  }

  /** Lines that are whole already are not in the chunk any more; the torn one counts as dropped. */
  #failed(chunk: Buffer, error: Error): void {
    this.#held -= chunk.length
    const start = chunk[0] === NEWLINE ? 1 : 0
    this.#drop(
      chunk.subarray(start).reduce((sum, byte) => sum + (byte === NEWLINE ? 1 : 0), 0),
      fileFault(error),
    )
    this.#next()
  }

  #drop(count: number, why: string): void {
    const isFirst = this.#dropped === 0
    this.#dropped += count
    if (isFirst)
      this.#report(`tollgate: log lines cannot be written to ${this.#name} and are dropped: ${why}`)
  }

  #recovered(): void {
    if (this.#dropped === 0) return
    const count = this.#dropped
    this.#dropped = 0
    this.#report(
      `tollgate: log lines are written to ${this.#name} again; ${count} ${count === 1 ? 'was' : 'were'} dropped`,
    )
  }

  /** At the end of the process, however it comes: a crash is explained by the last line. */
  readonly #writeRest = (): void => {
    try {
      for (let chunk = this.#take(); chunk !== null; chunk = this.#take()) writeSync(this.#fd, chunk)
    } catch {
      // There is no time left to try again.
    }
  }
}

/** A pipe whose reader has not caught up. */
function isFull({ code }: NodeJS.ErrnoException): boolean {
  return code === 'EAGAIN' || code === 'EBUSY'
}
