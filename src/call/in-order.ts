/** Begins the items of a batch. A thousand items may take no longer of one turn of the event loop than a few calls do. */
import type { MaybePromise } from '../ports/maybe-promise.ts'

/** Items of one batch that are in flight at a time. */
const IN_FLIGHT = 32
/** Milliseconds of beginning items after which others get their turn. */
const SLICE = 1
/** Items between two looks at the clock. */
const LOOK_EVERY = 8

/** How a batch is worked off. */
export interface Steps<T> {
  /** Begins an item and calls `answered` once, maybe at once; what comes behind that is not waited for. A rejection ends the batch. */
  readonly begin: (item: T, index: number, answered: () => void) => MaybePromise<void>
  /** Calls `goOn` in a later turn of the loop: what does not fit into this one goes on there. */
  readonly later: (goOn: () => void) => void
  /** Whether nobody waits for answers any more: then nothing further begins. */
  readonly isOver: () => boolean
}

/** Begins the items in their order, a bounded number at a time; resolves when all that began have been answered. */
export function inOrder<T>(items: readonly T[], { begin, later, isOver }: Steps<T>): Promise<void> {
  return new Promise((resolve, reject) => {
    let next = 0
    let inFlight = 0
    let isBeginning = false
    /** When this turn has begun enough; 0 in a turn that has begun nothing. An item that ends without its node begins the next one in the same turn. */
    let until = 0
    const answered = (): void => {
      inFlight -= 1
      if (!isBeginning) goOn()
    }
    const newTurn = (): void => {
      until = 0
    }
    const beginSome = (): void => {
      if (isOver()) next = items.length
      if (until === 0 && next < items.length) {
        until = performance.now() + SLICE
        setImmediate(newTurn)
      }
      while (next < items.length && inFlight < IN_FLIGHT) {
        inFlight += 1
        next += 1
        begin(items[next - 1]!, next - 1, answered)?.catch(reject)
        if (next % LOOK_EVERY === 0 && next < items.length && performance.now() > until) {
          // What is answered meanwhile begins nothing.
          later(() => {
            until = 0
            goOn()
          })
          return
        }
      }
      isBeginning = false
      if (next === items.length && inFlight === 0) resolve()
    }
    const goOn = (): void => {
      isBeginning = true
      try {
        beginSome()
      } catch (error) {
        reject(error instanceof Error ? error : new Error('an item failed', { cause: error }))
      }
    }
    goOn()
  })
}
