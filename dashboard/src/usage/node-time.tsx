import { shown } from './measures.ts'
import type { Sum } from './sums.ts'

/** How long nodes took: half of the calls, and 95 of 100, were not slower. */
export function NodeTime({ sum, before }: { sum: Sum; before: Sum | null }) {
  return (
    <span
      title={`Half of the calls, and 95 of 100, took nodes no longer; ${shown('latency', sum)} on average`}
    >
      p50 <strong>{shown('p50', sum)}</strong>, p95 <strong>{shown('p95', sum)}</strong> at the nodes
      {before !== null && (
        <small>
          {' '}
          before: {shown('p50', before)}, {shown('p95', before)}
        </small>
      )}
    </span>
  )
}
