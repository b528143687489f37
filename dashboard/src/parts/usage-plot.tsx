import { useMemo } from 'preact/hooks'
import type { UsageRow } from '../api/types.ts'
import { figure, share } from '../text/figure.ts'
import { stepName } from '../text/time.ts'
import { seriesOf } from '../usage/series.ts'
import type { Series } from '../usage/series.ts'
import type { Choice } from '../usage/span.ts'
import { Chart } from './chart.tsx'

interface Props {
  readonly title: string
  /** What a series is, as the head of its column. */
  readonly what: string
  readonly rows: readonly UsageRow[]
  readonly steps: readonly number[]
  readonly by: Choice['by']
  /** What the labels depend on. */
  readonly names: unknown
  readonly labelOf: (row: UsageRow) => string
}

/** A plot, the table that is its legend, and all of it as a table over time. */
export function UsagePlot({ title, what, rows, steps, by, names, labelOf }: Props) {
  const series = useMemo(() => seriesOf(rows, steps, labelOf), [rows, steps, names])
  return (
    <section class="card">
      <h2>{title}</h2>
      <div class="plot">
        <Chart label={`Requests ${title.toLowerCase()} over time`} steps={steps} series={series} by={by} />
        <Legend what={what} series={series} />
      </div>
      <details>
        <summary>Every {by}</summary>
        <OverTime {...{ series, steps, by, title }} />
      </details>
    </section>
  )
}

function Legend({ what, series }: { what: string; series: readonly Series[] }) {
  return (
    <div class="scroll">
      <table>
        <thead>
          <tr>
            <th scope="col">{what}</th>
            <th scope="col" class="number">
              Requests
            </th>
            <th scope="col" class="number calls">
              Calls
            </th>
            <th scope="col" class="number">
              Errors
            </th>
          </tr>
        </thead>
        <tbody>
          {series.map(({ label, colour, sum }) => (
            <tr key={label}>
              <th scope="row">
                <span class="legend">
                  <span class={`swatch series-${colour}`} />
                  {label}
                </span>
              </th>
              <td class="number">{figure(sum.requests)}</td>
              <td class="number calls">{figure(sum.calls)}</td>
              <td class="number">{share(sum.errors, sum.calls)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface OverTimeProps extends Pick<Props, 'steps' | 'by' | 'title'> {
  readonly series: readonly Series[]
}

/** Steps in which something was used, the newest first. */
function OverTime({ series, steps, by, title }: OverTimeProps) {
  const used = steps.flatMap((time, i) =>
    series.some(({ requests }) => requests[i] !== 0) ? [{ time, i }] : [],
  )
  return (
    <div
      class="scroll"
      tabIndex={0}
      role="region"
      aria-label={`Requests ${title.toLowerCase()}, every ${by}`}
    >
      <table>
        <thead>
          <tr>
            <th scope="col">{by === 'hour' ? 'Hour' : 'Day'} (UTC)</th>
            {series.map(({ label }) => (
              <th key={label} scope="col" class="number">
                {label}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {used.toReversed().map(({ time, i }) => (
            <tr key={time}>
              <th scope="row">{stepName(time, by)}</th>
              {series.map(({ label, requests }) => (
                <td key={label} class="number">
                  {figure(requests[i] ?? 0)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}
