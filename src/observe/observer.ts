/** Hands each observation to the metrics and, where it is worth a line, to the log. */
import type { AttemptLog } from './attempt-log.ts'
import type { Logger } from './log.ts'
import type { Metrics } from './metrics.ts'
import type { Observer } from '../ports/observer.ts'
import type { Records } from './records.ts'
import { sourceStack } from './source-stack.ts'

/** Results that a client's call brings about on a route that is well. */
export const CAUSED_BY_CLIENTS = new Set([
  'missing',
  'null_behind',
  'unsupported',
  'behind',
  'too_wide',
  'aborted',
  'unneeded',
])

/** The observer of `serve`. */
export function makeObserver(
  metrics: Metrics,
  log: Logger,
  attempts: AttemptLog,
  records: Pick<Records, 'call' | 'attempt' | 'refused'>,
): Observer {
  return {
    call(seen) {
      metrics.call(seen)
      records.call(seen)
      if (log.isLevelEnabled('debug')) log.debug(seen, 'call')
    },
    attempt(seen) {
      metrics.attempt(seen)
      records.attempt(seen)
      if (seen.result === 'ok' || seen.result === 'error') return
      if (!CAUSED_BY_CLIENTS.has(seen.result)) attempts.failed(seen)
      else if (log.isLevelEnabled('debug')) log.debug(seen, 'attempt failed')
    },
    cached(seen) {
      metrics.cached(seen)
    },
    notification(seen) {
      metrics.notification(seen)
    },
    refused(seen) {
      metrics.refused(seen)
      records.refused(seen)
    },
    bug(error, requestId) {
      if (error instanceof Error && error.stack !== undefined) error.stack = sourceStack(error.stack)
      log.error({ err: error, requestId }, 'internal error: please report this')
    },
  }
}
