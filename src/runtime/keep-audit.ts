/** The audit trail of a gateway: an entry for each reload, and an end to old ones. */
import { formatProblem } from '../config/problem.ts'
import { reasonOf } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import type { Audit, Happening } from '../ports/audit.ts'
import type { Reloaded } from '../reload/reloader.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Closing } from './closing.ts'

/** How often old entries are removed, in milliseconds. */
const FORGET_EVERY = 3_600_000
/** Problems of a rejected edit that an entry names. */
const MOST_PROBLEMS = 3

/** Removes entries that are older than `audit.keep`, until the gateway closes. */
export function keepAudit(
  audit: Audit,
  settings: () => Snapshot['gateway'],
  log: Logger,
  closing: Closing,
): void {
  const forget = (): void => {
    const before = Math.floor((Date.now() - settings().audit.keep) / 1000)
    audit.forget(before).catch((error: unknown) => {
      log.warn(
        reasonOf(error),
        'old entries of the audit trail cannot be removed; this is tried again in an hour',
      )
    })
  }
  const timer = setInterval(forget, FORGET_EVERY)
  timer.unref()
  forget()
  closing.push(() => {
    clearInterval(timer)
  })
}

/** Writes down a reload. An edit that is found is nobody's; what is asked for by the command line or a signal is the operator's. */
export function auditReload(audit: Audit, log: Logger): (reloaded: Reloaded) => void {
  return ({ ok, by, version, before, changes, problems }) => {
    const named = problems.slice(0, MOST_PROBLEMS).map(formatProblem)
    const entry: Happening = {
      action: ok ? 'config.reloaded' : 'config.rejected',
      target: version,
      accountId: null,
      before: ok ? { version: before } : null,
      after: ok ? { version, by, changes: changes.length } : { by, problems: named, errors: problems.length },
    }
    audit.record(entry, by === 'watcher' ? 'gateway' : 'cli').catch((error: unknown) => {
      log.warn(reasonOf(error), 'the reload is missing in the audit trail')
    })
  }
}
