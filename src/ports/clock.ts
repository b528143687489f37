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
