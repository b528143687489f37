import { requestUnits } from '../config/words/units.ts'
import type { RateLimit } from '../ports/limits.ts'
import { refuse } from '../refusal/refusal.ts'
import type { Refusal } from '../refusal/refusal.ts'

/** Rate of `service_*` calls, per account (design, "Management"). */
export const MANAGEMENT: RateLimit = { perSecond: 10, burst: 30 }

/** The refusal of a call that has to wait; `units` is what it costs. */
export function rateLimited(retryAfterMs: number, limit: RateLimit, units: number): Refusal {
  const { perSecond } = limit
  const why =
    limit === MANAGEMENT
      ? `${perSecond} management calls per second`
      : `${requestUnits(perSecond)} per second; this call costs ${units}`
  return refuse('rate_limited', `Rate limit exceeded: ${why}`, { retryAfterMs, limit: perSecond })
}
