import { setTimeout as sleep } from 'node:timers/promises'
import { isBusy } from './error.ts'

/** How long a write waits for another process's lock, in milliseconds. */
export const PATIENCE = 5000

/**
 * Does `attempt` as soon as no other connection's lock is in its way. SQLite's own busy timeout would block the event
 * loop for as long as the lock is held; here the waiting is between attempts. Past `deadline` (performance.now()) the
 * busy error is thrown.
 */
export async function whenFree<T>(attempt: () => T, deadline: number): Promise<T> {
  for (;;) {
    try {
      return attempt()
    } catch (error) {
      if (!isBusy(error) || performance.now() >= deadline) throw error
    }
    // Jitter, so that two who wait do not meet for ever.
    await sleep(2 + Math.random() * 10)
  }
}
