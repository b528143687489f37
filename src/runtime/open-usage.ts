/** Usage as it is read: of this machine, or of all that share a PostgreSQL. */
import { hostname } from 'node:os'
import type { Ledger } from '../ports/ledger.ts'
import { logFailure } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Reloader } from '../reload/reloader.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { NodeState } from '../stores/postgres/usage/nodes.ts'
import type { OpenUsage, UsageParts as FleetParts } from '../stores/postgres/usage/open.ts'
import { stopTracking } from '../stores/sqlite/usage/reports/changes.ts'
import type { Closing } from './closing.ts'
import type { Fleet } from './join-fleet.ts'
import type { Stores } from './stores.ts'

/** Seconds between the clocks of this machine and of PostgreSQL that an operator hears of, and from which on it serves no calls. */
const SKEW = { logged: 1, unready: 30 }
/** Milliseconds between two words about the same failure. */
const REMIND_EVERY = 60_000

/** What other machines have used of quotas. */
export type OthersUsed = Pick<OpenUsage['others'], 'known' | 'whenChanged'>

/** What it works with. */
export interface UsageParts {
  readonly stores: Pick<Stores, 'database' | 'ledger' | 'usage' | 'fleet'>
  readonly metrics: Metrics
  readonly log: Logger
  /** Resolves when the ledger has what workers have left; absent: it has. */
  readonly complete?: Promise<void>
}

/** Usage, open. */
export interface Usage {
  readonly usage: Ledger
  readonly others: OthersUsed
  /** What an account has used of a quota window, here and elsewhere as far as that is known. */
  readonly usedInWindow: Stores['ledger']['usedInWindow']
  /** The same once everything is reported and read anew, as far as PostgreSQL is there. */
  readonly usedByNow: (...asked: Parameters<Usage['usedInWindow']>) => Promise<number | null>
  /** The same of this machine alone. */
  readonly ownInWindow: Stores['ledger']['usedInWindow']
  /** Why calls should go to other machines; null where they need not. */
  unready(): string | null
  /** Reports all usage; false where that does not work, or where it is kept here alone. */
  report(): Promise<boolean>
  /** What this machine serves, and `accountsAge`: seconds since its accounts were last compared with PostgreSQL's. */
  follow(
    gateway: { readonly snapshot: Snapshot },
    reloader: Pick<Reloader, 'state' | 'succeededAt'>,
    accountsAge?: () => number | null,
  ): void
}

/** What a machine says of itself, once it is there. */
type Followed = Parameters<Usage['follow']>

const nobody: OthersUsed = {
  known: () => 0,
  whenChanged: () => undefined,
}

/** Opens it. Rejects with one sentence for the operator. */
export async function openUsageOf(
  snapshot: Snapshot,
  { stores, metrics, log, complete = Promise.resolve() }: UsageParts,
  closing: Closing,
): Promise<Usage> {
  const { database, ledger, usage, fleet } = stores
  const { postgres: config, node } = snapshot.gateway
  if (config === null) {
    stopTracking(database.database)
    return {
      usage,
      others: nobody,
      unready: () => null,
      follow: () => undefined,
      report: () => Promise.resolve(false),
      usedInWindow: (...asked) => ledger.usedInWindow(...asked),
      usedByNow: (...asked) => Promise.resolve(ledger.usedInWindow(...asked)),
      ownInWindow: (...asked) => ledger.usedInWindow(...asked),
    }
  }
  const [{ openUsage }, { Postgres }] = await Promise.all([
    import('../stores/postgres/usage/open.ts'),
    import('../stores/postgres/postgres.ts'),
  ])
  const isOurs: Fleet['isOurs'] = query => fleet.isOurs(query)
  const postgres = new Postgres(config, isOurs)
  closing.push(() => postgres.close())
  let followed: Partial<Followed> = []
  const opened: { open?: OpenUsage } = {}
  const state = (): NodeState => {
    const [gateway, reloader, accountsAge] = followed
    const { version, sharedVersion } = gateway?.snapshot ?? snapshot
    const { spool, heartbeat } = opened.open ?? {}
    return {
      name: node.name ?? hostname(),
      version,
      sharedVersion,
      info: {
        spoolLagSeconds: spool?.lagSeconds ?? 0,
        accountsAgeSeconds: accountsAge?.() ?? null,
        clockSkewSeconds: heartbeat?.skewSeconds ?? null,
        fenced: spool?.isFenced ?? false,
        reload: reloader === undefined ? null : { at: reloader.succeededAt, ok: reloader.state.ok },
      },
    }
  }
  const open = await openUsage({
    postgres,
    config,
    database,
    own: usage,
    state,
    complete,
    isOurs,
    gather: () => ledger.folded(),
    events: tellSpool(log, metrics),
  })
  opened.open = open
  closing.push(async () => {
    await ledger.charging.settled()
    await open.close()
  })
  const { heartbeat, others, spool } = open
  registerSpool(open, metrics)
  const skew = setInterval(() => {
    const seconds = heartbeat.skewSeconds ?? 0
    if (Math.abs(seconds) > SKEW.logged)
      log.warn({ seconds }, "this machine's clock is not PostgreSQL's; usage is counted by this machine's")
  }, REMIND_EVERY).unref()
  closing.push(() => {
    clearInterval(skew)
  })
  const usedInWindow: Usage['usedInWindow'] = (account, window, switched, endpoint) => {
    const own = ledger.usedInWindow(account, window, switched, endpoint)
    if (own === null) return null
    // What is known of all machines has what this one has reported.
    if (endpoint !== undefined) return Math.max(own, others.knownOf(endpoint, account, window.start))
    return own + others.known(account, window.start)
  }
  return {
    usage: open.ledger,
    others,
    usedInWindow,
    usedByNow: async (...asked) => {
      const [account, { start }, , endpoint] = asked
      // What others have used of a quota is read with each report.
      if (endpoint !== undefined)
        await spool
          .flush()
          .then(() => others.readOf(endpoint, account, start))
          .catch(() => undefined)
      return usedInWindow(...asked)
    },
    ownInWindow: (...asked) => ledger.usedInWindow(...asked),
    unready: () => {
      const seconds = Math.abs(heartbeat.skewSeconds ?? 0)
      return seconds > SKEW.unready ? `clock_skew: ${seconds.toFixed(1)} s from PostgreSQL's clock` : null
    },
    report: () =>
      spool.flush().then(
        () => true,
        () => false,
      ),
    follow: (...more) => {
      followed = more
      // Nobody waits for it, and what is said of a start is soon wrong.
      if (spool.isClaimed) void heartbeat.beat()
    },
  }
}

/** Reports of a machine with workers: once the ledger has what they have charged. */
export function gatheredReports(
  usage: Usage,
  gather: () => Promise<void>,
): Pick<Usage, 'unready' | 'report'> {
  return {
    unready: () => usage.unready(),
    report: async () => {
      await gather()
      return usage.report()
    },
  }
}

function tellSpool(log: Logger, metrics: Metrics): FleetParts['events'] {
  let loggedAt = -Infinity
  const lateRequests = metrics.counter(
    'tollgate_spool_late_requests_total',
    'Request units that were reported when their hours were final already, so that PostgreSQL does not have them',
    [],
  )
  return {
    fenced: () => {
      log.error(
        'another process reports usage as this node: this data directory was copied, or runs twice; usage is kept here and no longer reported. Stop one of the two; this one reports under a new id after a restart',
      )
    },
    forked: (before, id) => {
      log.warn(
        { before, id },
        'this data directory was copied or put back from a backup: it reports usage under a new id, and only what comes from now on',
      )
    },
    failed: error => {
      if (performance.now() - loggedAt < REMIND_EVERY) return
      loggedAt = performance.now()
      logFailure(
        log,
        error,
        'usage cannot be reported to PostgreSQL; it is kept here, and this is tried again',
      )
    },
    late: ({ requests, calls, from, to }) => {
      lateRequests.add([], requests)
      const hours = [from, to].map(hour => new Date(hour * 1000).toISOString())
      log.warn(
        { requests, calls, from: hours[0], to: hours[1] },
        'usage of hours that are final in PostgreSQL was not added there; it stays in journal.db of this machine',
      )
    },
    named: id => {
      log.warn(
        { id },
        'another gateway that is there has the same name: give each a node.name of its own in gateway.yaml',
      )
    },
    recovered: () => {
      loggedAt = -Infinity
      log.info('usage is reported to PostgreSQL again')
    },
    housekeeping: error => {
      log.error(
        { err: error },
        'the tables of usage in PostgreSQL cannot be looked after; this is tried again',
      )
    },
  }
}

function registerSpool({ spool, heartbeat }: OpenUsage, metrics: Metrics): void {
  const gauges: readonly (readonly [string, string, () => number | null])[] = [
    ['tollgate_spool_lag_seconds', 'How long usage has waited to be in PostgreSQL', () => spool.lagSeconds],
    ['tollgate_spool_rows', 'Rows of usage that wait to be in PostgreSQL', () => spool.rows],
    [
      'tollgate_spool_fenced',
      'Whether another process reports usage as this node, so that this one does not',
      () => (spool.isFenced ? 1 : 0),
    ],
    [
      'tollgate_clock_skew_seconds',
      "How far this machine's clock is ahead of PostgreSQL's",
      () => heartbeat.skewSeconds,
    ],
  ]
  for (const [name, help, value] of gauges)
    metrics.gauge(name, help, [], () => {
      const now = value()
      return now === null ? [] : [[[], now]]
    })
}
