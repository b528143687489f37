import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'

/** Rate of `service_*` calls, per account (design, "Management"). */
export const MANAGEMENT = { perSecond: 10, burst: 30 }

/** The refusal of a call that has to wait. */
export function rateLimited(retryAfterMs: number, limit: number): Refusal {
  return refuse('rate_limited', `Rate limit exceeded: ${limit} requests per second`, { retryAfterMs, limit })
}
