/** What the log says of routes, of usage that cannot be recorded, of accounts that went away and of files that are checked. */
import type { Logger } from '../observe/log.ts'
import type { Observer } from '../ports/observer.ts'
import type { ProberEvents } from '../routes/health/prober.ts'
import { logFailure } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { SideWork, UsageEvents } from '../stores/sqlite/usage/events.ts'
import type { CheckEvents } from '../stores/sqlite/late-check.ts'

/** What the prober finds out, as log lines. */
export function logRoutes(
  log: Logger,
  observer: Pick<Observer, 'bug'>,
  alerts: Pick<ProberEvents, 'networkDown' | 'networkUp'>,
): ProberEvents {
  return {
    wrongChain(network, route, why) {
      log.error({ network, route, why }, 'a route serves another chain and gets no calls')
    },
    routeDown(network, route, why) {
      log.warn({ network, route, why }, 'route is down')
    },
    routeUp(network, route, ms) {
      log.info({ network, route, downMs: Math.round(ms) }, 'route is up again')
    },
    networkDown(network, why) {
      log.error({ network, why }, 'every route of the network is down')
      alerts.networkDown(network, why)
    },
    networkUp(network, ms) {
      log.info({ network, downMs: Math.round(ms) }, 'the network has a route again')
      alerts.networkUp(network, ms)
    },
    bug(error, route) {
      observer.bug(error, `probe of ${route}`)
    },
  }
}

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

/** To be called now and then. Calls go on: who has which key is still known from the file that is open. */
export function logAccounts(accounts: { lost(): Error | null }, log: Logger): () => void {
  let told = false
  return () => {
    const lost = accounts.lost()
    if ((lost !== null) === told) return
    told = lost !== null
    if (lost === null) log.info('the file of accounts is back where it was')
    else
      log.error(
        { err: lost },
        'known keys are served, but changes of accounts are lost and a restart would not find them: stop the gateway, put the file back and start it again',
      )
  }
}

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
