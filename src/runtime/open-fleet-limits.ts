/** Limits that several gateways share over Redis: what one machine has of them, for its processes or its only one. */
import { randomUUID } from 'node:crypto'
import type { RedisConfig } from '../config/fleet.ts'
import { Asking } from '../limits/asking.ts'
import { QuietAddresses } from '../limits/quiet-addresses.ts'
import type { Logger } from '../observe/log.ts'
import { measured } from '../observe/limit-metrics.ts'
import type { Metrics } from '../observe/metrics.ts'
import { systemClock } from '../ports/clock.ts'
import type { KnownUse } from '../stores/redis/buckets.ts'
import type { RedisHoldings } from '../stores/redis/holdings.ts'
import type { Closing } from './closing.ts'

/** What they are opened with. */
export interface FleetLimitsOptions {
  /** As the gateway is started with, and as its configuration has it since: `sync` and `away` may change. */
  readonly config: RedisConfig
  readonly now: () => RedisConfig
  /** What all machines have used of a quota, as far as it is known here. */
  readonly usedInWindow: KnownUse
  /** The same, read anew. */
  readonly usedByNow: KnownUse
  /** What this machine has used of it. */
  readonly ownInWindow: KnownUse
  /** Machines that share the limits; default: those that Redis has heard lately. */
  readonly machines?: () => number
  /** Hears every few seconds how many they are. */
  readonly machinesHeard?: (live: number) => void
  readonly metrics: Metrics
  readonly log: Logger
}

/** One machine's side. */
export interface FleetLimits {
  /** Takes this machine's part in the buckets of all. */
  readonly asking: Asking
  readonly holdings: RedisHoldings
  readonly machines: () => number
}

/** Connects to Redis, or goes on without until it is there. */
export async function openFleetLimits(options: FleetLimitsOptions, closing: Closing): Promise<FleetLimits> {
  const { config, now, metrics, log } = options
  const { usedInWindow, usedByNow, ownInWindow, machinesHeard = () => undefined } = options
  // Here, so that nobody else loads it.
  const { FOUND, openRedisLimits } = await import('../stores/redis/open.ts')
  const opened = await openRedisLimits({
    config,
    machine: randomUUID(),
    machinesHeard,
    usedInWindow,
    usedByNow,
    ownInWindow,
    away: ({ message }) => {
      log.warn({ why: message }, 'Redis does not answer: limits go by what this gateway knows until it does')
    },
    back: () => {
      log.info('Redis answers again: limits are those of all gateways')
    },
  })
  closing.push(() => opened.close())
  const { redis, buckets, holdings } = opened
  const machines = options.machines ?? (() => opened.machines.live)
  const isAway = (): boolean => redis.isAway
  const store = new QuietAddresses({
    store: measured(buckets, metrics, isAway),
    machines,
    isAway,
    clock: systemClock,
  })
  const asking = new Asking({
    store,
    clock: systemClock,
    settles: FOUND,
    get every() {
      return now().sync
    },
    get processes() {
      return machines()
    },
    get away() {
      return now().away
    },
  })
  closing.push(() => asking.close())
  return { asking, holdings, machines }
}
