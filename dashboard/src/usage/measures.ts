/** What can be read from rows of the ledger. */
import { figure } from '../text/figure.ts'
import type { Sum } from './sums.ts'

/** What a plot shows, the usual first. */
export const MEASURES = ['requests', 'calls', 'errors', 'refusals', 'latency'] as const
export type Measure = (typeof MEASURES)[number]

/** What they are called. */
export const MEASURE_NAMES: Readonly<Record<Measure, string>> = {
  requests: 'Requests',
  calls: 'Calls',
  errors: 'Errors',
  refusals: 'Refused calls',
  latency: 'Time at the nodes',
}

/** The value of a sum: a count, or for latency the milliseconds that nodes took for a call on average. */
export function valueOf(measure: Measure, sum: Sum): number {
  return measure === 'latency' ? latencyOf(sum) : sum[measure]
}

/** Milliseconds that nodes took for a call on average; 0 where there was none. */
export const latencyOf = ({ calls, upstreamMs }: Sum): number => (calls === 0 ? 0 : upstreamMs / calls)

/** A value as it is read. */
export function written(measure: Measure, value: number): string {
  if (measure !== 'latency') return figure(value)
  return value === 0 ? '–' : `${figure(value < 10 ? Math.round(value * 10) / 10 : Math.round(value))} ms`
}
