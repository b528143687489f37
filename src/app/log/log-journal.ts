/** Tells the operator how recording usage goes: once when it fails, now and then while it does, and when it works again. */
import { logFailure } from '../../observe/log.ts'
import type { Logger } from '../../observe/log.ts'
import type { Metrics } from '../../observe/metrics.ts'
import type { SideWork, UsageEvents } from '../../stores/sqlite/usage/events.ts'

/** Milliseconds between two reminders. */
const REMIND_EVERY = 60_000

const DELAYED: Readonly<Record<SideWork, string>> = {
  fold: 'usage cannot be brought into its tables; what is recorded is safe in the journal, and it is tried again',
  sync: 'the log of usage cannot be synced to the disk; it is tried again',
  checkpoint: 'the log of usage cannot be written back; it is tried again',
  quota: 'what an account has used of its quota cannot be read; its calls are refused until it can',
}

/** Hears of each commit and of each that failed. */
export function logJournal(metrics: Metrics, log: Logger): UsageEvents {
  let toldAt: number | null = null
  const delayedAt = new Map<SideWork, number>()
  return {
    committed: metrics.committed.bind(metrics),
    recovered: () => {
      toldAt = null
      log.info('usage journal recovered; calls are served')
    },
    failed: error => {
      const now = performance.now()
      if (toldAt !== null && now - toldAt < REMIND_EVERY) return
      toldAt = now
      log.error({ err: error }, 'usage cannot be recorded; calls are refused until it can')
    },
    delayed: (work, error) => {
      const now = performance.now()
      if (now - (delayedAt.get(work) ?? -Infinity) < REMIND_EVERY) return
      delayedAt.set(work, now)
      logFailure(log, error, DELAYED[work])
    },
    lost: error => {
      log.error(
        { err: error },
        'usage is no longer recorded, and calls are refused: stop the gateway, put the file back and start it again',
      )
    },
  }
}
