import type { Clock } from '../../src/ports/clock.ts'

/** A clock that stands still until a test moves it. */
export class TestClock implements Clock {
  #time = 1_000
  readonly #alarms = new Set<{ readonly at: number; readonly f: () => void }>()

  readonly monotonic = (): number => this.#time
  /** Some day in 2025. */
  readonly now = (): number => 1_750_000_000_000 + this.#time
  readonly after = (ms: number, f: () => void): (() => void) => {
    const alarm = { at: this.#time + ms, f }
    this.#alarms.add(alarm)
    return () => {
      this.#alarms.delete(alarm)
    }
  }

  /** Alarms that are set. */
  get waiting(): number {
    return this.#alarms.size
  }

  /** Moves on by so many milliseconds; what is due on the way is called in its order, at its time. */
  advance(ms: number): void {
    const end = this.#time + ms
    for (;;) {
      const [next] = [...this.#alarms].filter(({ at }) => at <= end).sort((a, b) => a.at - b.at)
      if (next === undefined) break
      this.#alarms.delete(next)
      this.#time = Math.max(this.#time, next.at)
      next.f()
    }
    this.#time = end
  }
}
