import { useMemo, useState } from 'preact/hooks'
import type { Usage } from '../model/usage.ts'
import { Chart } from '../parts/chart.tsx'
import { stepName } from '../text/time.ts'
import type { Choice } from './choice.ts'
import { GroupTable } from './group-table.tsx'
import { MEASURE_NAMES, written } from './measures.ts'
import { overTime, seriesOf } from './series.ts'
import type { Series } from './series.ts'
import { stepOf, stepsOf } from './span.ts'

interface Props extends Usage {
  /** What groups are called; changes when names do. */
  readonly nameOf: (id: string) => string
}

/** The plot over time, the table of its groups, and all of it as a table. */
export function UsagePlot({ nameOf, ...usage }: Props) {
  const { choice, overTime: rows, before, groups } = usage
  const { span, by, split, measure } = choice
  const steps = useMemo(() => stepsOf(span, by), [span, by])
  const series = useMemo(() => seriesOf(rows, steps, split, measure), [rows, steps, split, measure])
  const shown = useMemo(() => {
    const own = series.filter(({ id }) => id !== null).length
    const total = groups.reduce((sum, { other = 1 }) => sum + other, 0)
    return series.map(one => ({ ...one, label: one.id === null ? `${total - own} others` : nameOf(one.id) }))
  }, [series, groups, nameOf])
  const earlier = useMemo(
    () => (before === null ? null : overTime(before.overTime, stepsOf(before.span, by), measure)),
    [before, by, measure],
  )
  const running = runningStep(steps, by)
  const [open, setOpen] = useState(false)
  const title = `${MEASURE_NAMES[measure]} ${split === 'reason' ? 'by reason' : `by ${split}`}`
  return (
    <section class="card">
      <h2>{title}</h2>
      <Chart
        label={`${title} over time; the table has the same figures`}
        {...{ steps, by, measure, earlier, series: shown, running }}
      />
      <Key
        isCompared={earlier !== null}
        isRunning={series.some(({ values }) => (values[running] ?? 0) !== 0)}
      />
      <GroupTable {...usage} series={series} nameOf={nameOf} />
      <details onToggle={event => setOpen(event.currentTarget.open)}>
        <summary>Every {by}</summary>
        {open && <OverTime {...{ shown, steps, by, measure, title, earlier }} />}
      </details>
    </section>
  )
}

/** What of the plot the table does not name. */
function Key({ isCompared, isRunning }: { isCompared: boolean; isRunning: boolean }) {
  const parts = [
    ...(isCompared ? ['Dashed: all together in the span before.'] : []),
    ...(isRunning ? ['Paler: not over yet.'] : []),
  ]
  return parts.length === 0 ? null : <p class="quiet-text">{parts.join(' ')}</p>
}

/** Which step is not over yet; -1 where all are. */
function runningStep(steps: readonly number[], by: Choice['by']): number {
  const now = Date.now() / 1000
  return steps.findIndex(time => time <= now && now < time + stepOf(by))
}

interface OverTimeProps extends Pick<Choice, 'by' | 'measure'> {
  readonly shown: readonly (Series & { readonly label: string })[]
  readonly steps: readonly number[]
  readonly earlier: readonly number[] | null
  readonly title: string
}

/** Steps in which something was used, the newest first. */
function OverTime({ shown, steps, by, measure, title, earlier }: OverTimeProps) {
  const used = steps.flatMap((time, i) =>
    shown.some(({ values }) => values[i] !== 0) || (earlier?.[i] ?? 0) !== 0 ? [{ time, i }] : [],
  )
  const running = runningStep(steps, by)
  return (
    <div class="scroll long" tabIndex={0} role="region" aria-label={`${title}, every ${by}`}>
      <table>
        <thead>
          <tr>
            <th scope="col">{by === 'hour' ? 'Hour' : 'Day'} (UTC)</th>
            {shown.map(({ label, id }) => (
              <th key={id ?? ''} scope="col" class="number">
                {label}
              </th>
            ))}
            {earlier !== null && (
              <th scope="col" class="number">
                All before
              </th>
            )}
          </tr>
        </thead>
        <tbody>
          {used.toReversed().map(({ time, i }) => (
            <tr key={time}>
              <th scope="row">
                {stepName(time, by)}
                {i === running && <small> so far</small>}
              </th>
              {shown.map(({ id, values }) => (
                <td key={id ?? ''} class="number">
                  {written(measure, values[i] ?? 0)}
                </td>
              ))}
              {earlier !== null && <td class="number">{written(measure, earlier[i] ?? 0)}</td>}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
