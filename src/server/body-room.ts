/** Bounds the memory that long request bodies take together. Short ones are always let in, so that no sender of long ones shuts them out. */

/** Bytes of each body that are not counted. */
const SHORT = 64 * 1024

/** What one body holds. */
export interface Hold {
  /** Takes so many bytes more; false when there is no room for them. */
  grow(bytes: number): boolean
  /** Gives everything back. */
  release(): void
}

/** Counts what is held; lives as long as the listener. */
export class BodyRoom {
  readonly #limit: () => number
  #held = 0

  /** `limit` in bytes, as it is now. */
  constructor(limit: () => number) {
    this.#limit = limit
  }

  /** Begins with a body. */
  hold(): Hold {
    let size = 0
    let counted = 0
    return {
      grow: bytes => {
        size += bytes
        const more = Math.max(0, size - SHORT) - counted
        if (this.#held + more > this.#limit()) return false
        counted += more
        this.#held += more
        return true
      },
      release: () => {
        this.#held -= counted
        counted = 0
      },
    }
  }
}
