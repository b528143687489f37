/** One short message about what was just done, also read out. */
import { signal } from '@preact/signals'

const message = signal('')
let timer: ReturnType<typeof setTimeout> | undefined

/** Shows a message for a few seconds. */
export function say(text: string): void {
  clearTimeout(timer)
  message.value = text
  timer = setTimeout(() => (message.value = ''), 4_000)
}

/** Where messages appear. */
export function Toast() {
  return (
    <div class="toast" role="status">
      {message.value !== '' && <span>{message.value}</span>}
    </div>
  )
}
