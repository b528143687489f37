/** Which time the usage page shows. Days and months are those of UTC, as in the ledger. Times are Unix seconds. */

const DAY = 86_400

/** The step of a plot. */
export type Step = 'hour' | 'day'

/** From `from` (inclusive) to `to` (exclusive). */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Spans that can be chosen, the usual one first; two dates are the other way. */
export const RANGES = [
  ['24h', 'Last 24 hours'],
  ['today', 'Today'],
  ['yesterday', 'Yesterday'],
  ['7d', 'Last 7 days'],
  ['30d', 'Last 30 days'],
  ['90d', 'Last 90 days'],
  ['month', 'This month'],
  ['last-month', 'Last month'],
  ['custom', 'Custom dates'],
] as const
export type Range = (typeof RANGES)[number][0]

/** The gateway tells at most so many days by the hour, and by the day. */
export const MOST_DAYS = { hour: 31, day: 366 } as const

/** Seconds of one step. */
export const stepOf = (by: Step): number => (by === 'hour' ? 3600 : DAY)

/** The step that is read most easily over a span. */
export const usualStep = ({ from, to }: Span): Step => (to - from > 7 * DAY ? 'day' : 'hour')

/** Whether a span can be shown by this step. */
export const fits = ({ from, to }: Span, by: Step): boolean => to - from <= MOST_DAYS[by] * DAY

const upTo = (now: number, step: number): number => now - (now % step) + step

function monthOf(now: number, months: number): number {
  const date = new Date(now * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + months) / 1000
}

/** The last so many days: up to the hour that runs for few of them, up to the day that runs for many, or by the day. */
function lastDays(days: number, now: number, by: Step = 'hour'): Span {
  const to = upTo(now, days > 7 || (days > 1 && by === 'day') ? DAY : 3600)
  return { from: to - days * DAY, to }
}

const SPANS: Readonly<Record<Exclude<Range, 'custom'>, (now: number, by?: Step) => Span>> = {
  '24h': now => lastDays(1, now),
  today: now => ({ from: now - (now % DAY), to: upTo(now, 3600) }),
  yesterday: now => ({ from: now - (now % DAY) - DAY, to: now - (now % DAY) }),
  '7d': (now, by) => lastDays(7, now, by),
  '30d': now => lastDays(30, now),
  '90d': now => lastDays(90, now),
  month: now => ({ from: monthOf(now, 0), to: upTo(now, DAY) }),
  'last-month': now => ({ from: monthOf(now, -1), to: monthOf(now, 0) }),
}

/** The span of a choice, shown by this step; `first` and `last` are the dates of a custom one, both inclusive. */
export function spanOf(range: Range, now: number, first = '', last = '', by?: Step): Span {
  if (range !== 'custom') return SPANS[range](now, by)
  const [from, end] = [dayOf(first), dayOf(last)]
  if (from === null || end === null || end < from || from > now) return SPANS['7d'](now)
  const to = Math.min(end + DAY, upTo(now, DAY))
  return { from: Math.max(from, to - MOST_DAYS.day * DAY), to }
}

/** The beginning of a date such as 2025-03-05; null where it is none. */
function dayOf(date: string): number | null {
  const seconds = /^\d{4}-\d\d-\d\d$/.test(date) ? Date.parse(`${date}T00:00:00Z`) / 1000 : NaN
  return Number.isNaN(seconds) ? null : seconds
}

/** What a span is compared with: the month before for a month, as much of it as of this one; the same length just before otherwise. */
export function spanBefore(range: Range, { from, to }: Span): Span {
  if (range === 'last-month') return { from: monthOf(from, -1), to: from }
  if (range === 'month') return { from: monthOf(from, -1), to: Math.min(from, monthOf(from, -1) + to - from) }
  return { from: from - (to - from), to: from }
}

/** The span with the whole of its first and last step: the ledger's rows begin with theirs. */
export function wholeSteps({ from, to }: Span, by: Step): Span {
  const step = stepOf(by)
  return { from: from - (from % step), to: Math.ceil(to / step) * step }
}

/** The beginnings of all steps of a span. */
export function stepsOf({ from, to }: Span, by: Step): number[] {
  const step = stepOf(by)
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => from + i * step)
}
