import { sentence } from '../api/failure.ts'
import { copyText } from './copy.ts'
import { say } from './toast.tsx'

interface Props {
  /** What is copied, such as "HTTPS URL". */
  readonly what: string
  readonly fetchText: () => Promise<string>
}

/** Copies a text without showing it. */
export function CopyButton({ what, fetchText }: Props) {
  const copy = async (): Promise<void> => {
    try {
      await copyText(fetchText)
      say(`${what} copied`)
    } catch (error) {
      say(sentence(error))
    }
  }
  return (
    <button type="button" class="quiet small" aria-label={`Copy ${what}`} onClick={() => void copy()}>
      Copy
    </button>
  )
}
