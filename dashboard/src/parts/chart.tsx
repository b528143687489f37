import { useEffect, useRef, useState } from 'preact/hooks'
import type { Choice } from '../usage/choice.ts'
import type { Series } from '../usage/series.ts'

/** What is drawn. */
export interface Drawn extends Pick<Choice, 'by' | 'measure'> {
  readonly label: string
  readonly steps: readonly number[]
  readonly series: readonly (Series & { readonly label: string })[]
  /** The value of all together at each step of the span before; null without a comparison. */
  readonly earlier: readonly number[] | null
  /** Which step is not over yet; -1 where all are. */
  readonly running: number
}

/** Bars or lines over time; the table beside it says the same in words. The drawing library is fetched when it is first needed. */
export function Chart(drawn: Drawn) {
  const place = useRef<HTMLDivElement>(null)
  const [failed, setFailed] = useState(false)
  useEffect(() => {
    let stop: (() => void) | undefined
    let gone = false
    import('./draw.ts')
      .then(({ draw }) => {
        if (!gone && place.current !== null) stop = draw(place.current, drawn)
      })
      .catch(() => setFailed(true))
    return () => {
      gone = true
      stop?.()
    }
  }, [drawn.steps, drawn.series, drawn.earlier, drawn.measure])
  if (failed) return <p class="quiet-text">The plot could not be loaded; the table has all of it.</p>
  return <div class="chart" ref={place} role="img" aria-label={drawn.label} />
}
