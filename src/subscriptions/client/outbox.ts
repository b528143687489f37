/** Lets notifications out once their charge is on disk, in the order they came. */
import type { Charge } from '../../ports/journal.ts'

type Release = (committed: boolean) => void

/** Gathers the notifications of one loop turn, which share one commit. */
export class Outbox {
  #commit: ReturnType<Charge['commit']> | null = null
  #waiting: Release[] = []

  /** Calls `release` when the charge's commit has been tried. */
  push(charge: Charge, release: Release): void {
    const commit = charge.commit()
    if (this.#commit !== commit) {
      const waiting: Release[] = []
      this.#commit = commit
      this.#waiting = waiting
      void Promise.resolve(commit).then(committed => {
        if (this.#waiting === waiting) this.#commit = null
        for (const each of waiting) each(committed)
      })
    }
    this.#waiting.push(release)
  }

  /** Does something behind all that waits to be released. */
  after(work: () => void): void {
    if (this.#commit === null) work()
    else this.#waiting.push(work)
  }
}
