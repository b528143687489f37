/** What can be read from rows of the ledger. */
import { percentile } from '../../../src/ports/latency.ts'
import { figure } from '../text/figure.ts'
import type { Sum } from './sums.ts'

/** What a plot shows, the usual first. */
export const MEASURES = ['requests', 'calls', 'errors', 'refusals', 'latency', 'p50', 'p95'] as const
export type Measure = (typeof MEASURES)[number]

/** What they are called. */
export const MEASURE_NAMES: Readonly<Record<Measure, string>> = {
  requests: 'Request units',
  calls: 'Calls',
  errors: 'Errors',
  refusals: 'Refused calls',
  latency: 'Time at the nodes, mean',
  p50: 'Time at the nodes, p50',
  p95: 'Time at the nodes, p95',
}

/** Milliseconds that nodes took for a call, of those that have any; they do not add up. */
const TIMES = {
  latency: ({ calls, upstreamMs }: Sum) => (calls === 0 ? 0 : upstreamMs / calls),
  p50: ({ latency }: Sum) => percentile(latency, 0.5) ?? 0,
  p95: ({ latency }: Sum) => percentile(latency, 0.95) ?? 0,
} as const
type Time = keyof typeof TIMES

/** Whether a measure is a time, and no count. */
export function isTime(measure: Measure): measure is Time {
  return measure in TIMES
}

/** The value of a sum: a count, or milliseconds that nodes took for a call; 0 where that is not known. */
export function valueOf(measure: Measure, sum: Sum): number {
  return isTime(measure) ? TIMES[measure](sum) : sum[measure]
}

/** A measure of a sum as it is read. */
export function shown(measure: Measure, sum: Sum): string {
  return written(measure, valueOf(measure, sum))
}

/** A value as it is read. */
export function written(measure: Measure, value: number): string {
  if (!isTime(measure)) return figure(value)
  return value === 0 ? '–' : `${figure(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))} ms`
}
