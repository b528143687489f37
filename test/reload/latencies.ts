import type { LoadedCall } from '../support/steady-load.ts'

/** A stretch of time on the clock of `performance.now()`. */
export interface Span {
  readonly from: number
  readonly to: number
}

/** Parts calls into those that were under way in one of the spans and the others. */
export function isDuring(
  calls: readonly LoadedCall[],
  spans: readonly Span[],
): [during: LoadedCall[], others: LoadedCall[]] {
  const touches = ({ at, took }: LoadedCall) => spans.some(({ from, to }) => at <= to && at + took >= from)
  return [calls.filter(touches), calls.filter(call => !touches(call))]
}

/** How long calls took, for a person to read. */
export function latencies(calls: readonly LoadedCall[]): string {
  const sorted = calls.map(({ took }) => took).sort((x, y) => x - y)
  const at = (share: number) => (sorted[Math.floor((sorted.length - 1) * share)] ?? 0).toFixed(1)
  return `${calls.length}, p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, max ${at(1)} ms`
}
