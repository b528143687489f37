import { labelTexts } from '../text/labels.ts'
import type { Endpoint } from '../api/types.ts'

interface Props extends Pick<Endpoint, 'labels'> {
  /** How many are shown where there is little room; what the others are is in the title of their number. */
  readonly most?: number
}

/** The labels of an endpoint; nothing where it has none. */
export function Labels({ labels, most = Infinity }: Props) {
  const texts = labelTexts(labels)
  const others = texts.slice(most)
  if (texts.length === 0) return null
  return (
    <ul class="labels" aria-label="Labels">
      {texts.slice(0, most).map(text => (
        <li key={text} title={text}>
          {text}
        </li>
      ))}
      {others.length > 0 && <li title={others.join(', ')}>{`${others.length} more`}</li>}
    </ul>
  )
}
