/**
 * Tells the operator how recording usage goes: once when it fails, now and then while it does, and when it works again; and how the check of a
 * large file goes.
 */
import type { Logger } from './observe/log.ts'
import type { Metrics } from './observe/metrics.ts'
import type { JournalEvents } from './usage/journal.ts'
import type { CheckEvents } from './usage/late-check.ts'

/** Milliseconds between two reminders. */
const REMIND_EVERY = 60_000

/** Hears of each commit and of each that failed. */
export function tellJournal(metrics: Metrics, log: Logger): JournalEvents & { readonly check: CheckEvents } {
  let toldAt: number | null = null
  return {
    committed: seconds => {
      metrics.committed(seconds)
      if (toldAt === null) return
      toldAt = null
      log.info('usage is recorded again; calls are served')
    },
    failed: error => {
      const now = performance.now()
      if (toldAt !== null && now - toldAt < REMIND_EVERY) return
      toldAt = now
      log.error({ err: error }, 'usage cannot be recorded; calls are refused until it can')
    },
    check: {
      begun: file => {
        log.info({ file }, 'a large file is checked while calls are served')
      },
      ended: (file, seconds) => {
        log.info({ file, seconds: Math.round(seconds) }, 'the file is sound')
      },
      damaged: error => {
        log.error(
          { err: error },
          'usage is no longer recorded, and calls are refused, until a start with a sound file',
        )
      },
      failed: error => {
        log.warn({ err: error }, 'whether the file is sound is not known')
      },
    },
  }
}
