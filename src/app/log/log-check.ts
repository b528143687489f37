/** Logs the check of a large file, of which the start reads only a part. */
import type { Logger } from '../../observe/log.ts'
import type { CheckEvents } from '../../stores/sqlite/late-check.ts'

/** What follows when a file is damaged, and what to do. */
const DAMAGED = {
  usage: 'recording of usage has stopped and calls are refused: restart with an intact file',
  accounts: 'known keys are served, but changes to accounts are refused: restart with an intact file',
  copy: 'known keys are served, but changes to accounts are refused on this machine: stop the gateway, remove the file and start again to copy it from PostgreSQL',
} as const

/** Hears of one file; each line names it. */
export function logCheck(of: keyof typeof DAMAGED, log: Logger): CheckEvents {
  return {
    begun: file => {
      log.info({ file }, 'a large file is checked while calls are served')
    },
    ended: (file, seconds) => {
      log.info({ file, seconds: Math.round(seconds) }, 'the file is sound')
    },
    damaged: error => {
      log.error({ err: error }, DAMAGED[of])
    },
    failed: error => {
      log.warn({ err: error }, 'the file could not be verified')
    },
  }
}
