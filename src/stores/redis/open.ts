/** Everything that Redis holds for the limits of several machines. Loaded only where gateway.yaml has `redis`. */
import type { RedisConfig } from '../../config/fleet.ts'
import { RedisBuckets } from './buckets.ts'
import type { KnownUse } from './buckets.ts'
import { RedisHoldings } from './holdings.ts'
import { Machines } from './machines.ts'
import { Redis } from './redis.ts'
import type { RedisEvents } from './redis.ts'

export { FOUND } from './redis.ts'

/** What it is opened with. */
export interface RedisLimitsOptions extends RedisEvents {
  readonly config: RedisConfig
  /** What no other process is called, now or before. */
  readonly machine: string
  readonly usedInWindow: KnownUse
  readonly usedByNow: KnownUse
  readonly ownInWindow: KnownUse
  /** Hears every few seconds how many machines there are. */
  readonly machinesHeard: (live: number) => void
}

/** The stores, and who shares them. */
export interface RedisLimits {
  readonly redis: Redis
  readonly buckets: RedisBuckets
  readonly holdings: RedisHoldings
  readonly machines: Machines
  close(): Promise<void>
}

/** Connects. A Redis that is not there yet is away from the start. */
export async function openRedisLimits(options: RedisLimitsOptions): Promise<RedisLimits> {
  const { config, machine, machinesHeard, usedInWindow, usedByNow, ownInWindow } = options
  const redis = await Redis.open(config, options)
  const buckets = new RedisBuckets({ redis, machine, usedInWindow, usedByNow, ownInWindow })
  const machines = await Machines.join(redis, machine, machinesHeard)
  const holdings = new RedisHoldings(redis)
  return {
    redis,
    buckets,
    holdings,
    machines,
    close: async () => {
      buckets.close()
      await machines.close()
      redis.close()
    },
  }
}
