import type { UsageRow } from '../api/types.ts'
import { Bars } from '../parts/bars.tsx'
import { count, figure, plural, share, trend } from '../text/figure.ts'
import { NodeTime } from './node-time.tsx'
import { overTime } from './series.ts'
import { stepsOf } from './span.ts'
import { sumOf } from './sums.ts'

const DAY = 86_400

/** The last 24 hours by the hour, against the 24 before them; `rows` are of both, without groups. */
export function LastDay({ to, rows }: { to: number; rows: readonly UsageRow[] }) {
  const steps = stepsOf({ from: to - DAY, to }, 'hour')
  const values = overTime(rows, steps, 'requests')
  const { now, before } = halves(to, rows)
  return (
    <>
      <Bars
        label={`${count(now.requests, 'request unit')} in 24 hours, at most ${figure(Math.max(...values))} an hour`}
        steps={steps}
        values={values}
      />
      <p class="facts small-facts">
        <span>
          <strong>{figure(now.requests)}</strong> {plural(now.requests, 'request unit')}{' '}
          <small>{trend(now.requests, before.requests)} against the 24 hours before</small>
        </span>
        <span>
          <strong>{share(now.errors, now.calls)}</strong> errors{' '}
          <small>before: {share(before.errors, before.calls)}</small>
        </span>
        <span>
          <strong>{figure(now.refusals)}</strong> refused <small>before: {figure(before.refusals)}</small>
        </span>
        <NodeTime sum={now} before={before} />
      </p>
    </>
  )
}

/** The sums of the last 24 hours and of the 24 before. */
export function halves(to: number, rows: readonly UsageRow[]) {
  return {
    now: sumOf(rows.filter(({ time }) => time >= to - DAY)),
    before: sumOf(rows.filter(({ time }) => time < to - DAY)),
  }
}
