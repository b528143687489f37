/** Runs work over the items of a batch. A thousand items may take no longer of one turn of the event loop than a few calls do. */
import type { Soon } from './soon.ts'

/** Items of one batch that are in flight at a time. */
const IN_FLIGHT = 32
/** Milliseconds of beginning items after which others get their turn. */
const SLICE = 2
/** Items between two looks at the clock. */
const LOOK_EVERY = 8

/** How a batch is worked off. */
export interface Steps<T, R> {
  readonly work: (item: T) => Soon<R>
  /** Calls `goOn` in a later turn of the loop: what does not fit into this one goes on there. */
  readonly later: (goOn: () => void) => void
  /** Takes the results, in the order of the items, as part of the last step. */
  readonly end: (results: R[]) => Soon<void>
}

/** Begins the items in their order, a bounded number at a time; resolves when the end has been made of their results. */
export function inOrder<T, R>(items: readonly T[], { work, later, end }: Steps<T, R>): Promise<void> {
  return new Promise((resolve, reject) => {
    const results: R[] = []
    let next = 0
    let inFlight = 0
    let isWaiting = false
    const begin = (): void => {
      const until = performance.now() + SLICE
      while (next < items.length && inFlight < IN_FLIGHT) {
        const index = next
        const coming = work(items[index]!)
        next += 1
        if (coming instanceof Promise) {
          inFlight += 1
          coming.then(result => {
            results[index] = result
            inFlight -= 1
            if (!isWaiting) goOn()
          }, reject)
        } else results[index] = coming
        if (next % LOOK_EVERY === 0 && next < items.length && performance.now() > until) {
          isWaiting = true
          later(() => {
            isWaiting = false
            goOn()
          })
          return
        }
      }
      if (next === items.length && inFlight === 0) resolve(end(results))
    }
    const goOn = (): void => {
      try {
        begin()
      } catch (error) {
        reject(error instanceof Error ? error : new Error('an item failed', { cause: error }))
      }
    }
    goOn()
  })
}
