/** Times as options take them. */
import { LATEST } from '../ports/clock.ts'
import { UsageError } from './command.ts'

/** Unix seconds of a date, a time in UTC or Unix seconds; null where the option is absent. */
export function timeOf(given: string | boolean | undefined, name: string): number | null {
  if (typeof given !== 'string') return null
  const zoned = /^\d{4}-\d{2}-\d{2}T[\d:]+$/.test(given) ? `${given}Z` : given
  const time = /^\d{6,}$/.test(given) ? Number(given) : Date.parse(zoned) / 1000
  if (!Number.isFinite(time)) throw new UsageError(`${name} must be a date, a time or Unix seconds`)
  if (time > LATEST) throw new UsageError(`${name} must be in the year 9999 at the latest`)
  return Math.floor(time)
}
