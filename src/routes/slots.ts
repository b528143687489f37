/** How far a Solana route has come, by commitment. */
import { settledFrom } from '../families/height-kind.ts'
import type { HeightKind } from '../families/height-kind.ts'

interface Told {
  readonly number: number
  /** When it was told, in milliseconds, and when the look began that was told. */
  readonly at: number
  readonly askedAt: number
}

/** A number of one scale, as one process tells another; times are milliseconds ago. */
export interface SlotReport {
  readonly scale: HeightKind
  readonly number: number
  readonly asked: number
  readonly told: number
}

/** Last numbers that a route told, by scale. */
export class Slots {
  readonly #told = new Map<HeightKind, Told>()

  /** Takes in what a look that began at `askedAt` was told: that can be less, unless more was shown meanwhile. */
  tell(scale: HeightKind, number: number, askedAt: number, now: number): void {
    const known = this.#told.get(scale)
    if (known !== undefined && number < known.number && known.at >= askedAt) return
    this.#told.set(scale, { number, at: now, askedAt })
  }

  /** Takes in a number that an answer or a message has shown. */
  show(scale: HeightKind, number: number, now: number): void {
    if (number > (this.#told.get(scale)?.number ?? -1))
      this.#told.set(scale, { number, at: now, askedAt: now })
  }

  /** The highest number on that scale that the route is known to have come to; null when none is known. */
  at(scale: HeightKind): number | null {
    let highest: number | null = null
    for (const other of settledFrom(scale)) {
      const told = this.#told.get(other)
      if (told !== undefined && told.number > (highest ?? -1)) highest = told.number
    }
    return highest
  }

  /** All of them, for another process. */
  report(now: number): SlotReport[] {
    return [...this.#told].map(([scale, { number, at, askedAt }]) => ({
      scale,
      number,
      asked: now - askedAt,
      told: now - at,
    }))
  }

  /** Forgets them. */
  clear(): void {
    this.#told.clear()
  }
}
