/** Spans of time that usage is asked for. */
import { timeOf } from '../time.ts'
import { UsageError } from '../command.ts'

/** From the first second to before the other, in Unix seconds. */
export interface Span {
  readonly from: number
  readonly to: number
  /** The times that were asked for, where one is within a step, and the plural of such steps. */
  readonly asked?: { readonly from: number; readonly to: number; readonly whole: `${Step}s` }
}

/** The quota windows of the moment, each account's own. */
export const QUOTA = 'quota'

const DAY = 86_400
/** Seconds of the steps that have a length of their own. */
const SECONDS = { hour: 3600, day: DAY } as const

/** A step of rows. */
export type Step = keyof typeof SECONDS | 'month'

/** The calendar year, month or day in UTC that `2026`, `2026-11` or `2026-11-20` names. */
export function periodOf(text: string): Span {
  const [, year, month, day] = /^(\d{4})(?:-(\d{2})(?:-(\d{2}))?)?$/.exec(text) ?? []
  const wrong = new UsageError('--period must be a month such as 2026-11, a day, a year, or quota')
  if (year === undefined) throw wrong
  const [y, m, d] = [Number(year), Number(month ?? 1) - 1, Number(day ?? 1)]
  const from = Date.UTC(y, m, d)
  // A date that does not exist would be another one.
  if (!new Date(from).toISOString().startsWith(text)) throw wrong
  const to =
    day !== undefined
      ? Date.UTC(y, m, d + 1)
      : Date.UTC(month === undefined ? y + 1 : y, month === undefined ? 0 : m + 1)
  return { from: from / 1000, to: to / 1000 }
}

/**
 * The span of `--from` and `--to`; by default the last 30 days. It has the whole of its first and last step, as a row is named for one and an event
 * counts one.
 */
export function spanOf(
  from: string | boolean | undefined,
  to: string | boolean | undefined,
  step: Step,
): Span {
  const end = timeOf(to, '--to') ?? Math.floor(Date.now() / 1000) + 1
  const begin = timeOf(from, '--from') ?? end - 30 * DAY
  if (begin >= end) throw new UsageError('--from must be before --to')
  const first = stepAt(begin, step)
  // Nothing was used later than now, which is the end of a span without --to.
  const last = to === undefined || stepAt(end, step) === end ? end : nextStep(end, step)
  const isWidened = (from !== undefined && first !== begin) || last !== end
  if (!isWidened) return { from: first, to: last }
  const asked = { from: from === undefined ? first : begin, to: end, whole: `${step}s` } as const
  return { from: first, to: last, asked }
}

/** The beginning of the step that a time is in. */
export function stepAt(time: number, step: Step): number {
  if (step !== 'month') return time - (time % SECONDS[step])
  const date = new Date(time * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth()) / 1000
}

/** The beginning of the step behind the one that a time is in. */
export function nextStep(time: number, step: Step): number {
  if (step !== 'month') return stepAt(time, step) + SECONDS[step]
  const date = new Date(time * 1000)
  return Date.UTC(date.getUTCFullYear(), date.getUTCMonth() + 1) / 1000
}
