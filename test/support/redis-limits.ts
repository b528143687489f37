import { randomUUID } from 'node:crypto'
import type { RedisConfig } from '../../src/config/fleet.ts'
import { RedisBuckets } from '../../src/stores/redis/buckets.ts'
import type { KnownUse } from '../../src/stores/redis/buckets.ts'
import { Redis } from '../../src/stores/redis/redis.ts'
import type { RedisEvents } from '../../src/stores/redis/redis.ts'
import type { Teardown } from './teardown.ts'

/** As gateway.yaml has it by default; the timeout is one that a busy machine keeps. */
export function redisConfig(url: string, config: Partial<RedisConfig> = {}): RedisConfig {
  return { url: [url], prefix: 'tg', timeout: 1_000, sync: 100, away: 'part', ...config }
}

/** A connection that ends with the test. */
export async function openRedis(
  t: Teardown,
  config: RedisConfig,
  events: Partial<RedisEvents> = {},
): Promise<Redis> {
  const redis = await Redis.open(config, { away: () => undefined, back: () => undefined, ...events })
  t.teardown(() => {
    redis.close()
  })
  return redis
}

/** The buckets as one more machine sees them. */
export function redisBuckets(
  t: Teardown,
  redis: Pick<Redis, 'run' | 'isCluster' | 'isAway'>,
  usedInWindow: KnownUse = () => 0,
  ownInWindow = usedInWindow,
  usedByNow = usedInWindow,
): RedisBuckets {
  const buckets = new RedisBuckets({
    redis,
    machine: randomUUID(),
    usedInWindow,
    usedByNow,
    ownInWindow,
  })
  t.teardown(() => {
    buckets.close()
  })
  return buckets
}
