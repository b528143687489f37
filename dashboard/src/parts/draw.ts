/** Draws with uPlot, in the colours of the style sheet. */
import uPlot from 'uplot'
import { brief, figure } from '../text/figure.ts'
import { hour, shortDay, stepName } from '../text/time.ts'
import { stack } from '../usage/series.ts'
import { stepOf } from '../usage/span.ts'
import type { Drawn } from './chart.tsx'

const HEIGHT = 240
const DAY = 86_400

/** Draws into an element and keeps up with its width and the colour scheme; returns how to stop. */
export function draw(place: HTMLElement, drawn: Drawn): () => void {
  let plot = make(place, drawn)
  const scheme = matchMedia('(prefers-color-scheme: dark)')
  const again = (): void => {
    plot.destroy()
    plot = make(place, drawn)
  }
  const watcher = new ResizeObserver(() => plot.setSize({ width: place.clientWidth, height: HEIGHT }))
  watcher.observe(place)
  scheme.addEventListener('change', again)
  return () => {
    watcher.disconnect()
    scheme.removeEventListener('change', again)
    plot.destroy()
  }
}

function make(place: HTMLElement, { steps, series, by }: Drawn): uPlot {
  const style = getComputedStyle(place)
  const colour = (name: string): string => style.getPropertyValue(name).trim()
  const step = stepOf(by)
  const bars = uPlot.paths.bars!({ size: [0.72, 48], align: 0, radius: 0.12 })
  const axis = { stroke: colour('--plot-text'), font: `12px ${style.fontFamily}` }
  const lines = { stroke: colour('--plot-line'), width: 1 }
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
        values: (_, splits) => splits.map(tick),
      },
      { ...axis, grid: lines, ticks: { show: false }, size: 48, values: (_, splits) => splits.map(count) },
    ],
    series: [
      {},
      ...series.map(({ label, colour: rank }) => ({
        ...{ label, fill: colour(`--series-${rank}`), width: 0, paths: bars, points: { show: false } },
      })),
    ],
    hooks: { setCursor: [plot => tell(plot, place, { steps, series, by })] },
  }
  return new uPlot(options, [[...steps], ...stack(series)], place)
}

const tick = (seconds: number): string => (seconds % DAY === 0 ? shortDay(seconds) : hour(seconds))
const count = (value: number): string => (Number.isInteger(value) ? brief(value) : '')

/** Says what is under the pointer. */
function tell(plot: uPlot, place: HTMLElement, { steps, series, by }: Omit<Drawn, 'label'>): void {
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
  const lines = series.flatMap(({ label, requests }) =>
    requests[idx] === 0 ? [] : [`${label}  ${figure(requests[idx]!)}`],
  )
  box.textContent = [stepName(time, by), ...(lines.length === 0 ? ['nothing'] : lines)].join('\n')
  box.style.left = `${Math.min(left + 12, plot.over.clientWidth - box.offsetWidth)}px`
}
