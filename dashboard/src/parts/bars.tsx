import { brief, figure } from '../text/figure.ts'
import { hour } from '../text/time.ts'

interface Props {
  /** What the bars are, in words. */
  readonly label: string
  /** The beginning of each hour. */
  readonly steps: readonly number[]
  readonly values: readonly number[]
}

const WIDTH = 480
const HEIGHT = 64
/** Hours between two that are written below. */
const EVERY = 6

/** Small bars by the hour with the largest value and some of the hours: the shape of a day at a glance. */
export function Bars({ label, steps, values }: Props) {
  const most = Math.max(1, ...values)
  const step = WIDTH / values.length
  return (
    <figure class="hours" role="img" aria-label={label}>
      <span class="most">{brief(most)} an hour</span>
      <svg class="bars" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} preserveAspectRatio="none" aria-hidden="true">
        {values.map((value, i) => {
          const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT)
          const place = { x: i * step + 1, y: HEIGHT - height, width: step - 2, height }
          const running = i === values.length - 1 ? 'running' : ''
          return (
            <rect key={i} {...place} rx="1.5" class={value === 0 ? 'none' : running}>
              <title>{`${hour(steps[i]!)} UTC: ${figure(value)}${running === '' ? '' : ' so far'}`}</title>
            </rect>
          )
        })}
      </svg>
      <div class="ticks" aria-hidden="true">
        {steps
          .filter((_, i) => i % EVERY === 0)
          .map(time => (
            <span key={time}>{hour(time)}</span>
          ))}
        <span>now</span>
      </div>
    </figure>
  )
}
