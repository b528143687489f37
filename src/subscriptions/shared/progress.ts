/** How far the subscriptions of one socket have come: by the heads that it shows, or while it carries none by its route's probes. */

/** Heights are blocks or slots; times are in milliseconds of a monotonic clock. */
export class Progress {
  /** Subscriptions to heads that the socket carries. */
  #heads = 0
  /** Highest head that it has shown; where it has shown none yet, what was certain when the first of them was looked at. */
  #shown: number | null = null
  /** Highest head of its route, by probes. */
  #probed: number | null = null
  /** The same when the socket last showed that it is alive. */
  #alive: number | null = null
  #behindSince: number | null = null

  /** A subscription to heads begins. */
  enter(): void {
    this.#heads += 1
  }

  /** It ends. */
  leave(): void {
    this.#heads -= 1
    if (this.#heads === 0) this.#shown = null
  }

  show(height: number): void {
    this.#shown = Math.max(this.#shown ?? 0, height)
  }

  /** Takes in what is known of the route's head; gives the height up to which the subscriptions can be trusted to have come. */
  look(probed: number): number {
    this.#probed = Math.max(this.#probed ?? 0, probed)
    if (this.#heads === 0) return this.#probed
    this.#shown ??= this.#alive ?? probed
    return this.#shown
  }

  /** Something came over the socket: what was sent before is not missed. */
  beat(): void {
    this.#alive = this.#probed
  }

  /**
   * Height up to which nothing was missed when the socket was lost, null when nothing is known. A socket may have been dead for long before that is
   * noticed, while probes went on.
   */
  reached(): number | null {
    if (this.#shown === null) return this.#alive
    return this.#probed === null ? this.#shown : Math.min(this.#shown, this.#probed)
  }

  /** For how long it has been behind: told at each look whether it is. */
  behindFor(isBehind: boolean, now: number): number {
    this.#behindSince = isBehind ? (this.#behindSince ?? now) : null
    return this.#behindSince === null ? 0 : now - this.#behindSince
  }
}
