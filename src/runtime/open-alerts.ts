/** Has webhooks told of what happens: quotas that are used, accounts and keys that change, networks that go down. */
import { Deliveries } from '../alerts/deliveries.ts'
import { DroppedEvents } from '../alerts/dropped.ts'
import { post } from '../alerts/post.ts'
import { NetworkAlerts } from '../alerts/networks.ts'
import { QuotaAlerts } from '../alerts/quota.ts'
import type { Gateway } from '../call/gateway.ts'
import { ALERT_EVENTS } from '../config/alerts.ts'
import type { AlertEvent } from '../config/alerts.ts'
import { version } from '../config/version.ts'
import { logFailure } from '../observe/log.ts'
import type { Logger } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import { OPERATORS } from '../ports/alerts.ts'
import type { Alert, Lane } from '../ports/alerts.ts'
import type { AccountRecord } from '../ports/accounts.ts'
import type { ProberEvents } from '../routes/health/prober.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'
import type { UsageDatabase } from '../stores/sqlite/usage/database.ts'
import type { Closing } from './closing.ts'
import type { Fleet } from './join-fleet.ts'
import type { OthersUsed } from './open-usage.ts'

/** How often the audit trail is read for events, in milliseconds, and between two words about a failure. */
const READ_TRAIL = 1_000
const REMIND_EVERY = 60_000
/** Milliseconds for which a gateway without the operator's webhook leaves an event to those that may have it. */
const LEFT_TO_OTHERS = 86_400_000

/** What it works with. */
export interface AlertParts {
  readonly gateway: () => Gateway
  readonly accounts: AccountStore
  readonly fleet: Pick<Fleet, 'isShared' | 'share'>
  readonly database: UsageDatabase
  /** What other machines have used of the same quotas. */
  readonly others: OthersUsed
  readonly metrics: Metrics
  readonly log: Logger
}

/** Opens the alerts of a gateway; returns who hears of networks. */
export function openAlerts(
  { gateway, accounts, fleet, database, others, metrics, log }: AlertParts,
  closing: Closing,
): Pick<ProberEvents, 'networkDown' | 'networkUp'> {
  const config = () => gateway().snapshot.gateway.alerts
  const hasWebhook = (): boolean => config().webhook !== null
  // The YAML of another gateway may be newer, or older.
  const toOperator = (): readonly AlertEvent[] =>
    hasWebhook() ? config().events : fleet.isShared ? ALERT_EVENTS : []
  let toldAt = -Infinity
  const broken = (error: unknown): void => {
    if (performance.now() - toldAt < REMIND_EVERY) return
    toldAt = performance.now()
    logFailure(log, error, 'webhooks cannot be told of what happens; this is tried again')
  }
  const dropped = new DroppedEvents(
    metrics.counter('tollgate_webhook_events_dropped_total', 'Events that never reach a webhook', [
      'webhook',
      'reason',
    ]),
    (count, webhooks) => {
      log.warn(
        { dropped: count, webhooks },
        'too many events wait for these webhooks; newer ones were dropped',
      )
    },
  )
  const kept = (all: readonly string[]): boolean => {
    // Perhaps nobody has a webhook for them.
    const full = hasWebhook() ? all : all.filter(target => target !== OPERATORS)
    dropped.add(full, 'queue_full')
    deliveries.look()
    return full.length === 0
  }
  const raise = (alert: Alert, once?: string): Promise<boolean> =>
    accounts.alerts.raise(alert, toOperator().includes(alert.type), once).then(kept)
  const quotas = new QuotaAlerts({
    find: id => accounts.accounts.find(id) as AccountRecord | null,
    snapshot: () => gateway().snapshot,
    epoch: () => gateway().epoch,
    raise: (alert, once) =>
      raise(alert, once).catch((error: unknown) => {
        broken(error)
        throw error
      }),
    now: Date.now,
  })
  const spent: Parameters<UsageDatabase['whenSpent']>[0] = all => {
    try {
      quotas.spent(
        all.map(one => ({ ...one, requests: one.requests + others.known(one.account, one.start) })),
      )
    } catch (error) {
      broken(error)
    }
  }
  database.whenSpent(spent)
  others.whenChanged(windows => {
    spent(database.usedOf(windows))
  })
  closing.push(lookThrough(database, spent, broken))
  const posts = fleet.share('webhooks')
  const postsToOperator = fleet.share('operator-webhook', hasWebhook)
  // Without a webhook an event that is due is written off: nobody wants it.
  const isLeft = (lane: Lane): boolean => lane === 'operator' && fleet.isShared && !hasWebhook()
  const deliveries = new Deliveries({
    alerts: {
      receivers: (lane, now, most) => {
        const isOurs = lane === 'operator' && hasWebhook() ? postsToOperator() : posts()
        return isOurs ? accounts.alerts.receivers(lane, now - (isLeft(lane) ? LEFT_TO_OTHERS : 0), most) : []
      },
      due: (target, now, most) => {
        const isLate = target === OPERATORS && isLeft('operator')
        return accounts.alerts.due(target, now - (isLate ? LEFT_TO_OTHERS / 1000 : 0), most)
      },
      webhook: accountId => accounts.alerts.webhook(accountId),
      settle: (...over) => accounts.alerts.settle(...over),
    },
    operators: () => config().webhook,
    allowPrivate: () => config().allowPrivate,
    post,
    version,
    now: Date.now,
    broken,
    failed: ({ id, type, target, attempts }, why, nextAt) => {
      const said =
        nextAt === null
          ? 'a webhook did not take an event, which is given up'
          : 'a webhook did not take an event'
      if (nextAt === null) dropped.add([target], 'given_up')
      log.warn({ id, type, webhook: target, attempts: attempts + 1, why, nextAt }, said)
    },
  })
  const networks = new NetworkAlerts({
    wants: type => hasWebhook() && config().events.includes(type),
    raise: alert => raise(alert),
    broken,
  })
  const trail = setInterval(() => {
    if (posts()) accounts.alerts.readTrail(toOperator()).then(kept).catch(broken)
    networks.write()
  }, READ_TRAIL)
  trail.unref()
  closing.push(async () => {
    clearInterval(trail)
    await deliveries.close().catch(broken)
    dropped.close()
  })
  metrics.gauge('tollgate_webhook_events_waiting', 'Events that are to be posted', ['webhook'], () => {
    const { operator, accounts: account } = accounts.alerts.waiting()
    return [
      [['operator'], operator],
      [['account'], account],
    ]
  })
  metrics.gauge(
    'tollgate_quota_nearly_spent_accounts',
    'Accounts that have used nine tenths of their quota or more',
    [],
    () => [[[], quotas.nearlySpent]],
  )
  return {
    networkDown: (slug, why) => {
      networks.add('network.down', { network: slug, why })
    },
    networkUp: (slug, ms) => {
      networks.add('network.up', { network: slug, downMs: Math.round(ms) })
    },
  }
}

/** Looks at the windows of all accounts, a few in a turn: what was used just before a crash may not have been told. */
function lookThrough(
  database: UsageDatabase,
  spent: Parameters<UsageDatabase['whenSpent']>[0],
  broken: (error: unknown) => void,
): () => void {
  let after = ''
  let next: NodeJS.Timeout | undefined
  const look = (): void => {
    try {
      const some = database.newestWindows(after)
      if (some.length === 0) return
      spent(some)
      after = some.at(-1)!.account
      next = setTimeout(look, 5).unref()
    } catch (error) {
      broken(error)
    }
  }
  next = setTimeout(look, 5).unref()
  return () => {
    clearTimeout(next)
  }
}
