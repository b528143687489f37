/** Draws with uPlot, in the colours of the style sheet. */
import uPlot from 'uplot'
import { onColours } from '../model/paper.ts'
import { brief } from '../text/figure.ts'
import { hour, shortDay, stepName } from '../text/time.ts'
import { isTime, written } from '../usage/measures.ts'
import { stack } from '../usage/series.ts'
import { stepOf } from '../usage/span.ts'
import type { Drawn } from './chart.tsx'

const HEIGHT = 240
const DAY = 86_400

/** Draws into an element and keeps up with its width and the colours, which are others in the dark and on paper; returns how to stop. */
export function draw(place: HTMLElement, drawn: Drawn): () => void {
  let plot = make(place, drawn)
  const again = (): void => {
    plot.destroy()
    plot = make(place, drawn)
  }
  const watcher = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }))
  watcher.observe(place)
  const ignore = onColours(again)
  return () => {
    watcher.disconnect()
    ignore()
    plot.destroy()
  }
}

function make(place: HTMLElement, drawn: Drawn): uPlot {
  const { steps, series, by, measure, earlier } = drawn
  const style = getComputedStyle(place)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const step = stepOf(by)
  const axis = { stroke: colour('--plot-text'), font: `12px ${style.fontFamily}` }
  const lines = { stroke: colour('--plot-line'), width: 1 }
  // Times do not add up: they are lines beside each other.
  const isStacked = !isTime(measure)
  const values = isStacked ? stack(series) : series.map(({ values }) => values.map(v => (v === 0 ? null : v)))
  const before = earlier === null ? [] : [steps.map((_, i) => earlier[i] ?? null)]
  const options: uPlot.Options = {
    width: place.clientWidth,
    height: HEIGHT,
    padding: [12, 4, 0, 0],
    legend: { show: false },
    cursor: { drag: { x: false, y: false }, points: { show: false }, y: false },
    tzDate: seconds => uPlot.tzDate(new Date(seconds * 1000), 'Etc/UTC'),
    scales: {
      x: { time: true, range: (_, min, max) => [min - step / 2, max + step / 2] },
      y: { range: (_, __, max) => [0, Math.max(4, max * 1.05)] },
    },
    axes: [
      {
        ...axis,
        grid: { show: false },
        ticks: { ...lines, size: 4 },
        size: 32,
        // Between two days there is nothing that a bar stands for.
        values: (_, splits) => splits.map(at => (by === 'day' && at % DAY !== 0 ? '' : tick(at))),
      },
      {
        ...axis,
        grid: lines,
        ticks: { show: false },
        size: 56,
        values: (_, splits) => splits.map(value => (isStacked ? count(value) : written(measure, value))),
      },
    ],
    series: [
      {},
      ...series.map(({ label, colour: rank }) => ({
        label,
        ...(isStacked ? bars(colour(`--series-${rank}`)) : line(colour(`--series-${rank}`))),
      })),
      ...before.map(() => ({
        ...line(colour('--plot-text')),
        label: 'before',
        dash: [6, 4],
        width: 1.5,
        spanGaps: true,
      })),
    ],
    hooks: {
      setCursor: [plot => showValues(plot, place, drawn)],
      drawSeries: [(plot, i) => shade(plot, i, drawn, colour('--card'))],
    },
  }
  return new uPlot(options, [[...steps], ...values, ...before], place)
}

const bars = (fill: string): uPlot.Series => ({
  fill,
  width: 0,
  points: { show: false },
  paths: uPlot.paths.bars!({ size: [0.72, 48], align: 0, radius: 0.12 }),
})

const line = (stroke: string): uPlot.Series => ({ stroke, width: 2, points: { show: false } })

const tick = (seconds: number): string => (seconds % DAY === 0 ? shortDay(seconds) : hour(seconds))
const count = (value: number): string => (Number.isInteger(value) ? brief(value) : '')

/** A step that is not over yet is drawn paler, once the bars are there. */
function shade(plot: uPlot, i: number, { series, steps, by, running }: Drawn, paper: string): void {
  const start = steps[running]
  if (i !== series.length || start === undefined) return
  const [left, right] = [start - stepOf(by) / 2, start + stepOf(by) / 2].map(x => plot.valToPos(x, 'x', true))
  const { top, height } = plot.bbox
  const { ctx } = plot
  ctx.save()
  ctx.globalAlpha = 0.55
  ctx.fillStyle = paper
  ctx.fillRect(left!, top, right! - left!, height)
  ctx.restore()
}

/** Says what is under the pointer. */
function showValues(
  plot: uPlot,
  place: HTMLElement,
  { steps, series, by, measure, earlier, running }: Drawn,
): void {
  let box = place.querySelector<HTMLElement>('.chart-tip')
  if (box === null) {
    box = document.createElement('div')
    box.className = 'chart-tip'
    plot.over.append(box)
  }
  const { left = -1, idx } = plot.cursor
  const time = typeof idx === 'number' ? steps[idx] : undefined
  box.hidden = left < 0 || time === undefined
  if (box.hidden || typeof idx !== 'number' || time === undefined) return
  const lines = series.flatMap(({ label, values }) =>
    values[idx] === 0 ? [] : [`${label}  ${written(measure, values[idx]!)}`],
  )
  const title = `${stepName(time, by)}${idx === running ? ' so far' : ''}`
  const before = earlier === null ? [] : [`before  ${written(measure, earlier[idx] ?? 0)}`]
  box.textContent = [title, ...(lines.length === 0 ? ['nothing'] : lines), ...before].join('\n')
  box.style.left = `${Math.min(left + 12, plot.over.clientWidth - box.offsetWidth)}px`
}
