import { computed } from '@preact/signals'
import { linkTo } from '../address.ts'
import { printedAt } from '../model/paper.ts'
import { route } from '../route.ts'
import { day, hour } from '../text/time.ts'

const written = computed(() => `As of ${day(printedAt.value)}, ${hour(printedAt.value)} UTC`)

/** On paper: which page this is and when it was, which on a screen the browser shows. */
export function PrintHead() {
  const { page, id, query } = route.value
  const address = page === null ? location.hash : linkTo(page, id, query)
  return (
    <p class="print-only">
      {written} · {location.origin + location.pathname + address}
    </p>
  )
}
