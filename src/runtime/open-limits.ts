/** The limits of a gateway in one process: in its memory, or with `redis` those of several gateways. */
import { randomUUID } from 'node:crypto'
import type { Gateway } from '../call/gateway.ts'
import type { RedisConfig } from '../config/fleet.ts'
import { LocalBuckets } from '../limits/buckets.ts'
import type { Buckets } from '../limits/buckets.ts'
import { BadKeys } from '../limits/bad-keys.ts'
import { AGAIN, SharedHoldings } from '../limits/holdings.ts'
import { CallLimits } from '../limits/limits.ts'
import type { UsedOf } from '../limits/limits.ts'
import { SharedRate } from '../limits/route-rate.ts'
import { systemClock } from '../ports/clock.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { Snapshot } from '../snapshot/types.ts'
import type { Begun } from './begin.ts'
import type { Closing } from './closing.ts'
import type { GatewayParts } from './gateway.ts'
import { openFleetLimits } from './open-fleet-limits.ts'
import type { Usage } from './open-usage.ts'

/** What of them is for calls, and who holds how many connections; absent: counted in this process. */
export interface ProcessLimits {
  readonly parts: Pick<GatewayParts, 'limits' | 'badKeys' | 'routes' | 'subscriptions'>
  readonly connections?: Holdings
  /** Has them follow the configuration, once there is a gateway that has it. */
  readonly follow: (gateway: Gateway) => void
}

/** Whether the ledger has the usage of all that share the limits: machines that share nothing but Redis have one each. */
export function hasWholeLedger({
  redis,
  postgres,
}: Pick<Snapshot['gateway'], 'redis' | 'postgres'>): boolean {
  return redis === null || postgres !== null
}

/** Opens them. */
export async function openLimits(
  { snapshot, metrics, log }: Begun,
  { usedInWindow, usedByNow, ownInWindow }: Pick<Usage, 'usedInWindow' | 'usedByNow' | 'ownInWindow'>,
  closing: Closing,
): Promise<ProcessLimits> {
  const { redis } = snapshot.gateway
  if (redis === null)
    return { parts: limitsOf(new LocalBuckets(systemClock, usedInWindow), null), follow: () => undefined }
  let now = (): RedisConfig => redis
  const { asking, machines, ...fleet } = await openFleetLimits(
    {
      config: redis,
      now: () => now(),
      usedInWindow,
      usedByNow,
      ownInWindow,
      metrics,
      log,
    },
    closing,
  )
  const store = fleet.holdings.join(randomUUID(), { recall: async recalled => holdings.recall(recalled) })
  const holdings: SharedHoldings = new SharedHoldings({
    store,
    clock: systemClock,
    every: redis.sync,
    again: AGAIN,
  })
  closing.push(() => {
    holdings.close()
    store.leave()
  })
  return {
    parts: {
      ...limitsOf(
        asking,
        hasWholeLedger(snapshot.gateway)
          ? ({ account, window }) => usedInWindow(account, window, false)
          : null,
      ),
      routes: {
        processes: 1,
        get machines() {
          return machines()
        },
        rate: (route, perSecond) => new SharedRate(asking, route, perSecond, machines),
      },
      subscriptions: holdings.of('subscriptions'),
    },
    follow: gateway => {
      now = () => gateway.snapshot.gateway.redis ?? redis
    },
    connections: holdings.of('connections'),
  }
}

function limitsOf(buckets: Buckets, used: UsedOf | null): Pick<ProcessLimits['parts'], 'limits' | 'badKeys'> {
  return { limits: new CallLimits(buckets, used), badKeys: new BadKeys(buckets, 1) }
}
