/** The routes as the keeper has them. */
import { ByteBudget } from '../../limits/byte-budget.ts'
import { BadKeys } from '../../limits/bad-keys.ts'
import { LocalBuckets } from '../../limits/buckets.ts'
import { CallLimits } from '../../limits/limits.ts'
import type { Gateway } from '../../call/gateway.ts'
import { systemClock } from '../../ports/clock.ts'
import { Prober } from '../../routes/health/prober.ts'
import type { AppOptions, Begun } from '../begin.ts'
import type { Closing } from '../closing.ts'
import { makeGateway } from '../gateway.ts'
import { keepPaces } from '../keep-paces.ts'
import { logRoutes } from '../log/log-routes.ts'
import { openAlerts } from '../open-alerts.ts'
import { openRecords } from '../open-records.ts'
import type { Usage } from '../open-usage.ts'
import { keepDownNetworks } from './keep-down-networks.ts'

/** Probes the routes. It takes no calls: what it knows of routes is for the operator and the workers. `workers` serve already. */
export function openRoutes(
  begun: Begun,
  workers: number,
  { usage, others, usedInWindow }: Usage,
  { output }: Pick<AppOptions, 'output'>,
  closing: Closing,
): { readonly gateway: Gateway; readonly prober: Prober } {
  const { stores, snapshot, log, metrics } = begun
  const { accounts, keys, ledger } = stores
  const made: { prober?: Prober } = {}
  const down = keepDownNetworks(begun.state, workers)
  const alerts = openAlerts(
    {
      gateway: () => gateway,
      accounts,
      fleet: stores.fleet,
      database: stores.database,
      others,
      metrics,
      log,
    },
    closing,
  )
  const buckets = new LocalBuckets(systemClock, usedInWindow)
  const gateway = makeGateway(
    snapshot,
    {
      accounts,
      keys,
      usage,
      metrics,
      log,
      memory: new ByteBudget(() => Infinity),
      records: openRecords(() => null, { output, log }, closing),
      limits: new CallLimits(buckets, ({ account, window }) => usedInWindow(account, window, false)),
      badKeys: new BadKeys(buckets, 1),
      journal: ledger.charging,
      openProbing: (upstreams, heads, observer) => {
        keepPaces(begun.state, heads, closing)
        const events = down.heard(logRoutes(log, observer, alerts))
        return (made.prober = new Prober(upstreams, heads, snapshot, events, { before: down.before }))
      },
    },
    closing,
  )
  return { gateway, prober: made.prober! }
}
