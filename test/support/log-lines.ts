import type { Gateway } from './gateway.ts'

/** One line of the log. */
export interface LogLine {
  readonly level: string
  readonly msg: string
  readonly [key: string]: unknown
}

/** Reads the log of a gateway as it grows. */
export class LogReader {
  readonly #lines: LogLine[] = []
  readonly #changes: string[] = []
  #read = 0

  constructor(readonly gateway: Gateway) {}

  /** Every line so far. */
  all(): readonly LogLine[] {
    const { printed } = this.gateway
    const end = printed.lastIndexOf('\n') + 1
    for (const text of printed.slice(this.#read, end).split('\n')) {
      if (!text.startsWith('{')) continue
      const line = JSON.parse(text) as LogLine
      this.#lines.push(line)
      if (/^\w+\.yaml: [+~-] /.test(line.msg)) this.#changes.push(line.msg)
    }
    this.#read = Math.max(this.#read, end)
    return this.#lines
  }

  /** What it says of edits: a line for each change. */
  changes(): readonly string[] {
    this.all()
    return this.#changes
  }
}
