/** Lets notifications out once their charge is on disk, in the order they came. */
import type { Admission } from '../usage/meter.ts'

type Release = (committed: boolean) => void

/** Gathers the notifications of one loop turn, which share one commit. */
export class Outbox {
  #group: Admission['group'] | null = null
  #waiting: Release[] = []

  /** Calls `release` when the admission's commit has been tried. */
  push({ group }: Admission, release: Release): void {
    if (this.#group !== group) {
      const waiting: Release[] = []
      this.#group = group
      this.#waiting = waiting
      void Promise.resolve(group.settled()).then(committed => {
        if (this.#group === group) this.#group = null
        for (const each of waiting) each(committed)
      })
    }
    this.#waiting.push(release)
  }

  /** Does something behind all that waits to be released. */
  after(work: () => void): void {
    if (this.#group === null) work()
    else this.#waiting.push(work)
  }
}
