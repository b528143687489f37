/** Small pieces of work that can come by the thousand in one moment, such as connections whose time is up together. */

/** Milliseconds of work after which calls get their turn. */
const SLICE = 2

/** Does pieces in the order they came, for a slice of each turn. */
export class InTurns {
  #waiting: (() => void)[] = []
  #running = false

  add(work: () => void): void {
    this.#waiting.push(work)
    if (this.#running) return
    this.#running = true
    setImmediate(() => {
      this.#turn()
    })
  }

  #turn(): void {
    const end = performance.now() + SLICE
    let done = 0
    for (const work of this.#waiting) {
      work()
      done += 1
      if (performance.now() > end) break
    }
    this.#waiting = this.#waiting.slice(done)
    this.#running = this.#waiting.length > 0
    if (this.#running)
      setImmediate(() => {
        this.#turn()
      })
  }
}
