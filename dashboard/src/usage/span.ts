/** Spans of time that usage is shown for, cut at whole hours or days in UTC. */

/** A span that ends now, and the size of its steps. */
export interface Choice {
  readonly days: number
  readonly by: 'hour' | 'day'
}

/** Spans that can be chosen, in days. */
export const SPANS: readonly { readonly days: number; readonly label: string }[] = [
  { days: 1, label: '24 hours' },
  { days: 7, label: '7 days' },
  { days: 30, label: '30 days' },
  { days: 90, label: '90 days' },
]

/** The gateway tells at most so many days by the hour. */
export const MOST_DAYS_BY_HOUR = 31

/** Seconds of one step. */
export function stepOf(by: Choice['by']): number {
  return by === 'hour' ? 3600 : 86_400
}

/** Where the span begins (inclusive) and ends (exclusive), in Unix seconds; the step that `now` falls in is its last. */
export function spanOf({ days, by }: Choice, now: number): { readonly from: number; readonly to: number } {
  const step = stepOf(by)
  const to = now - (now % step) + step
  return { from: to - Math.max(step, days * 86_400), to }
}

/** The beginnings of all steps from `from` to `to`. */
export function stepsOf(from: number, to: number, by: Choice['by']): number[] {
  const step = stepOf(by)
  return Array.from({ length: Math.ceil((to - from) / step) }, (_, i) => from + i * step)
}
