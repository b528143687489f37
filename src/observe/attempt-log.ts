/**
 * The log of failed attempts. A route that fails every call would fill the disk: of each route and reason the first few lines of a window
 * are written, and the rest as one line with their number.
 */
import type { Logger } from './log.ts'
import type { AttemptObservation } from '../ports/observer.ts'

/** Milliseconds of a window, which begins with a failure. */
const WINDOW = 10_000
/** Failures of a window that have a line each. */
const IN_FULL = 5

/** Failures of one route for one reason. */
interface Window {
  readonly network: string
  readonly route: string
  readonly result: string
  failures: number
  readonly timer: NodeJS.Timeout
}

/** Writes warnings. */
export class AttemptLog {
  readonly #log: Pick<Logger, 'warn'>
  /** The open ones, by route and reason. */
  readonly #windows = new Map<string, Window>()

  constructor(log: Pick<Logger, 'warn'>) {
    this.#log = log
  }

  /** An attempt has failed. */
  failed(seen: AttemptObservation): void {
    const reason = reasonOf(seen.result)
    const key = `${seen.route} ${reason}`
    const window = this.#windows.get(key) ?? this.#open(key, seen, reason)
    window.failures += 1
    if (window.failures <= IN_FULL) this.#log.warn(seen, 'attempt failed')
  }

  /** Says what has not been said yet. */
  close(): void {
    for (const key of [...this.#windows.keys()]) this.#end(key)
  }

  #open(key: string, { network, route }: AttemptObservation, result: string): Window {
    const timer = setTimeout(() => {
      this.#end(key)
    }, WINDOW).unref()
    const window = { network, route, result, failures: 0, timer }
    this.#windows.set(key, window)
    return window
  }

  #end(key: string): void {
    const { network, route, result, failures, timer } = this.#windows.get(key)!
    clearTimeout(timer)
    this.#windows.delete(key)
    const count = failures - IN_FULL
    if (count > 0) this.#log.warn({ network, route, result, count }, 'more attempts failed')
  }
}

/** A node chooses among hundreds of HTTP statuses: those of one hundred are one reason. */
function reasonOf(result: string): string {
  return result.replace(/^http_(\d)\d+$/, 'http_$1xx')
}
