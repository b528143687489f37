import type { Usage } from '../model/usage.ts'
import { figure, plural, share, trend } from '../text/figure.ts'
import { day, stepName } from '../text/time.ts'
import { NodeTime } from './node-time.tsx'
import type { Span } from './span.ts'
import { sumOf } from './sums.ts'
import type { Sum } from './sums.ts'

/** What the span comes to, and how that differs from the one before. */
export function Totals({ choice, groups, before }: Usage) {
  const sum = sumOf(groups)
  const other = before === null ? null : sumOf(before.groups)
  const isRefusals = choice.split === 'reason'
  return (
    <>
      <p class="facts">
        {!isRefusals && (
          <>
            <Fact of={({ requests }) => requests} word="request unit" counts {...{ sum, other }} />
            <Fact of={({ calls }) => calls} word="call" counts {...{ sum, other }} />
            <span title="Calls that a node answered with an error">
              <strong>{share(sum.errors, sum.calls)}</strong> errors{' '}
              {other !== null && <small>before: {share(other.errors, other.calls)}</small>}
            </span>
          </>
        )}
        <Fact of={({ refusals }) => refusals} word="refused" {...{ sum, other }} />
        {!isRefusals && <NodeTime sum={sum} before={other} />}
      </p>
      <p class="quiet-text">
        {spanName(choice.span)}
        {before !== null && <>, compared with {spanName(before.span)}</>}; all times UTC
      </p>
    </>
  )
}

interface FactProps {
  readonly sum: Sum
  readonly other: Sum | null
  readonly of: (sum: Sum) => number
  readonly word: string
  /** Whether the word is a noun that takes the number. */
  readonly counts?: boolean
}

function Fact({ sum, other, of, word, counts = false }: FactProps) {
  return (
    <span>
      <strong>{figure(of(sum))}</strong> {counts ? plural(of(sum), word) : word}{' '}
      {other !== null && (
        <small>
          {trend(of(sum), of(other))} from {figure(of(other))}
        </small>
      )}
    </span>
  )
}

function spanName({ from, to }: Span): string {
  return from % 86_400 === 0 && (to - from > 86_400 || to % 86_400 === 0)
    ? to - from > 86_400
      ? `${day(from)} to ${day(to - 1)}`
      : day(from)
    : `${stepName(from, 'hour')} to ${stepName(to, 'hour')}`
}
