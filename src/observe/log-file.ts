/** A log file of ours, which is opened again when it was renamed (logrotate). */
import { closeSync, openSync } from 'node:fs'
import { fileFault } from '../config/words/file-words.ts'
import type { LineOutput } from './access-log.ts'
import { LogOutput } from './log-output.ts'

/** Milliseconds after which a file is tried again that could not be opened. */
const RETRY = 10_000

/** Appends lines. Several processes may write to one file: each write is of whole lines, at its end. */
export class LogFile implements LineOutput {
  readonly #path: string
  readonly #report: (sentence: string) => void
  #output: LogOutput | null = null
  #triedAt = 0
  #closing: Promise<void> = Promise.resolve()

  constructor(path: string, report: (sentence: string) => void) {
    this.#path = path
    this.#report = report
    this.#open()
  }

  write(line: string): void {
    if (this.#output === null && performance.now() - this.#triedAt > RETRY) this.#open()
    this.#output?.write(line)
  }

  /** What was written goes into the file of before. */
  reopen(): void {
    void this.close()
    this.#open()
  }

  /** Resolves when all is written, also into the files of before. */
  close(): Promise<void> {
    const before = this.#closing
    const now = this.#output?.close()
    this.#closing = Promise.all([before, now]).then(() => undefined)
    return this.#closing
  }

  #open(): void {
    this.#triedAt = performance.now()
    try {
      const fd = openSync(this.#path, 'a', 0o640)
      this.#output = new LogOutput(fd, this.#report, { name: this.#path, closed: () => closeSync(fd) })
    } catch (error) {
      this.#output = null
      this.#report(
        `the access log ${this.#path} cannot be opened, and no call is written: ${fileFault(error)}`,
      )
    }
  }
}
