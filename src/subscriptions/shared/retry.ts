/** When to try again after a route was lost. */
import { setTimeout as pause } from 'node:timers/promises'

/** Milliseconds between two tries, doubled from the first to the last. */
const FIRST_PAUSE = 100
const LAST_PAUSE = 5_000
/** Milliseconds after which there is no further try. */
const PATIENCE = 30_000

/** Tries until `attempt` says that it is done; false when patience ends before that. */
export async function retry(attempt: () => Promise<boolean>): Promise<boolean> {
  const deadline = performance.now() + PATIENCE
  for (let wait = FIRST_PAUSE; !(await attempt()); wait = Math.min(wait * 2, LAST_PAUSE)) {
    const left = deadline - performance.now()
    if (left <= 0) return false
    // Jitter, so that many subscriptions do not come back in one moment.
    await pause(Math.min(left, wait * (0.5 + Math.random())), undefined, { ref: false })
  }
  return true
}
