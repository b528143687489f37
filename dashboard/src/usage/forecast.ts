/** When a quota is used up at the pace of the last 24 hours. Times are Unix seconds. */
import type { Account } from '../api/types.ts'

/** The time at which it is; null when it lasts until it resets, or nothing is used. */
export function usedUpAt(
  { requests, used, resetsAt }: NonNullable<Account['quota']>,
  lastDay: number,
  now: number,
): number | null {
  if (lastDay === 0) return null
  const at = now + ((requests - used) / lastDay) * 86_400
  return at < resetsAt ? at : null
}
