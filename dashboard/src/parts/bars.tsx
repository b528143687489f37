interface Props {
  /** What the bars are, in words. */
  readonly label: string
  readonly values: readonly number[]
}

const WIDTH = 480
const HEIGHT = 64

/** Small bars without axes: the shape of a day at a glance. */
export function Bars({ label, values }: Props) {
  const most = Math.max(1, ...values)
  const step = WIDTH / values.length
  return (
    <svg
      class="bars"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      preserveAspectRatio="none"
      role="img"
      aria-label={label}
    >
      {values.map((value, i) => {
        const height = value === 0 ? 1 : Math.max(3, (value / most) * HEIGHT)
        const place = { x: i * step + 1, y: HEIGHT - height, width: step - 2, height }
        return <rect key={i} {...place} rx="1.5" class={value === 0 ? 'none' : ''} />
      })}
    </svg>
  )
}
