/** Times as they are read: the ledger counts by UTC, so everything is shown in UTC. */
import type { Endpoint } from '../api/types.ts'

const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
  new Intl.DateTimeFormat('en-GB', { timeZone: 'UTC', ...options })

const dayFormat = format({ day: 'numeric', month: 'short', year: 'numeric' })
const shortFormat = format({ day: 'numeric', month: 'short' })
const hourFormat = format({ hour: '2-digit', minute: '2-digit' })

const date = (seconds: number): Date => new Date(seconds * 1000)

/** 5 Mar 2025 */
export const day = (seconds: number): string => dayFormat.format(date(seconds))

/** 5 Mar */
export const shortDay = (seconds: number): string => shortFormat.format(date(seconds))

/** 14:00 */
export const hour = (seconds: number): string => hourFormat.format(date(seconds))

/** 2025-03-05T14:00:00Z */
export const isoTime = (seconds: number): string => date(seconds).toISOString().replace('.000Z', 'Z')

/** A step of usage: a day, or an hour with its day. */
export const stepName = (seconds: number, by: 'hour' | 'day'): string =>
  by === 'day' ? day(seconds) : `${shortDay(seconds)}, ${hour(seconds)}`

/** When an endpoint was last used, of which the hour is known: "this hour", "today, 14:00", or a day. The first use is written down some seconds later: "just now". */
export function lastUsed(
  { lastUsedAt, requestCount }: Pick<Endpoint, 'lastUsedAt' | 'requestCount'>,
  now: number,
): string {
  if (lastUsedAt === null) return requestCount === 0 ? 'never' : 'just now'
  if (now - lastUsedAt < 3600) return 'this hour'
  return lastUsedAt >= now - (now % 86_400) ? `today, ${hour(lastUsedAt)}` : day(lastUsedAt)
}

/** 2025-03-05 */
export const isoDay = (seconds: number): string => isoTime(seconds).slice(0, 10)
