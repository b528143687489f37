import type { RateLimit, RateState } from '../ports/limits.ts'

/** A token bucket: `burst` tokens at most, refilled evenly at `perSecond`. Tokens are request units. */
export interface Bucket {
  tokens: number
  /** When `tokens` was right, in milliseconds. */
  at: number
}

/** A full bucket. */
export function newBucket(limit: RateLimit, now: number): Bucket {
  return { tokens: limit.burst, at: now }
}

/** Brings a bucket up to `now`; a clock that went back refills nothing, and a lowered burst is kept to. */
export function refill(bucket: Bucket, limit: RateLimit, now: number): void {
  const elapsed = Math.max(0, now - bucket.at)
  bucket.tokens = Math.min(limit.burst, bucket.tokens + (elapsed * limit.perSecond) / 1000)
  bucket.at = now
}

/** Takes `cost` tokens, or takes none and says how many milliseconds until there are enough. */
export function take(bucket: Bucket, limit: RateLimit, cost: number, now: number): number {
  refill(bucket, limit, now)
  if (bucket.tokens >= cost) {
    bucket.tokens -= cost
    return 0
  }
  return Math.max(1, Math.ceil(((cost - bucket.tokens) * 1000) / limit.perSecond))
}

/** Puts back what a call took that was refused later. */
export function putBack(bucket: Bucket, limit: RateLimit, cost: number): void {
  bucket.tokens = Math.min(limit.burst, bucket.tokens + cost)
}

/** The state of a bucket as clients are told it. */
export function rateState(bucket: Bucket, limit: RateLimit, now: number): RateState {
  const missing = Math.max(0, limit.burst - bucket.tokens)
  return {
    limit: limit.burst,
    remaining: Math.max(0, Math.floor(bucket.tokens)),
    reset: Math.ceil(now / 1000 + missing / limit.perSecond),
  }
}

/** Milliseconds for which a process counts as taking from a bucket after it has spoken of it. */
export const ACTIVE = 2_000

/** When each process last spoke of a bucket. */
export type Heard = Map<string, number>

/** Hears one, and says how many take from the bucket now. */
export function countActive(heard: Heard, process: string, now: number): number {
  heard.set(process, now)
  for (const [name, at] of heard) if (now - at >= ACTIVE) heard.delete(name)
  return heard.size
}
