/** The time. Distances in time are measured on the monotonic clock; only what people see or are billed for uses the wall clock. */

/** Where the time comes from. */
export interface Clock {
  /** Milliseconds since the Unix epoch. It may jump. */
  readonly now: () => number
  /** Milliseconds of a clock that never goes back. */
  readonly monotonic: () => number
  /** Calls `f` once, after `ms` milliseconds of the monotonic clock; returns how to prevent that. */
  readonly after: (ms: number, f: () => void) => () => void
}

/** The last second of the year 9999, the latest time that is taken from anybody: later ones no calendar shows. In Unix seconds. */
export const LATEST = 253_402_300_799

/** The clock of this process. */
export const systemClock: Clock = {
  now: Date.now,
  monotonic: performance.now.bind(performance),
  after: (ms, f) => {
    const timer = setTimeout(f, ms)
    return () => {
      clearTimeout(timer)
    }
  },
}
