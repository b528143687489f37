/** Bounds the memory that long request bodies take together. Short ones are always let in, so that no sender of long ones shuts them out. */

/** Bytes of each body that are not counted. */
const SHORT = 64 * 1024

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
    return new Hold(this)
  }

  /** Takes bytes beyond the short part of a body; false when there is no room for them. */
  take(bytes: number): boolean {
    if (this.#held + bytes > this.#limit()) return false
    this.#held += bytes
    return true
  }

  /** Gives them back. */
  giveBack(bytes: number): void {
    this.#held -= bytes
  }
}

/** What one body holds. */
export class Hold {
  readonly #room: BodyRoom
  #size = 0
  #counted = 0

  constructor(room: BodyRoom) {
    this.#room = room
  }

  /** Takes so many bytes more; false when there is no room for them. */
  grow(bytes: number): boolean {
    this.#size += bytes
    if (this.#size <= SHORT) return true
    const more = this.#size - SHORT - this.#counted
    if (!this.#room.take(more)) return false
    this.#counted += more
    return true
  }

  /** Whether there is anything to give back. */
  get isCounted(): boolean {
    return this.#counted > 0
  }

  /** Gives everything back. */
  release(): void {
    if (this.#counted > 0) this.#room.giveBack(this.#counted)
    this.#counted = 0
  }
}
