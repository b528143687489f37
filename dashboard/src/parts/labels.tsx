import { labelTexts } from '../text/labels.ts'
import type { Endpoint } from '../api/types.ts'

/** The labels of an endpoint; nothing where it has none. */
export function Labels({ labels }: Pick<Endpoint, 'labels'>) {
  const texts = labelTexts(labels)
  if (texts.length === 0) return null
  return (
    <ul class="labels" aria-label="Labels">
      {texts.map(text => (
        <li key={text}>{text}</li>
      ))}
    </ul>
  )
}
