import { share } from '../text/figure.ts'
import { shown } from './measures.ts'
import { withoutNode } from './sums.ts'
import type { Sum } from './sums.ts'

/** How long nodes took: half of the calls, and 95 of 100, were not slower; and how many calls waited for none. */
export function NodeTime({ sum, before }: { sum: Sum; before: Sum | null }) {
  const without = withoutNode(sum)
  return (
    <>
      <span
        title={`Half of the calls, and 95 of 100, took nodes no longer; ${shown('latency', sum)} on average`}
      >
        p50 <strong>{shown('p50', sum)}</strong>, p95 <strong>{shown('p95', sum)}</strong> at the nodes{' '}
        {before !== null && (
          <small>
            before: {shown('p50', before)}, {shown('p95', before)}
          </small>
        )}
      </span>
      {without !== null && (
        <span title="Calls answered from the cache or by the gateway itself, and messages of subscriptions">
          <strong>{share(without, sum.calls)}</strong> without waiting for a node
        </span>
      )}
    </>
  )
}
