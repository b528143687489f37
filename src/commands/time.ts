/** Times as options take them. */
import { UsageError } from './command.ts'

/** Unix seconds of a date, a time in UTC or Unix seconds; null where the option is absent. */
export function timeOf(given: string | boolean | undefined, name: string): number | null {
  if (typeof given !== 'string') return null
  if (/^\d{6,}$/.test(given)) return Number(given)
  const zoned = /^\d{4}-\d{2}-\d{2}T[\d:]+$/.test(given) ? `${given}Z` : given
  const time = Date.parse(zoned) / 1000
  if (!Number.isFinite(time)) throw new UsageError(`${name} must be a date, a time or Unix seconds`)
  return Math.floor(time)
}
