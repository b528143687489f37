/** Printing: a page is drawn in the colours of paper before it is, and says when. */
import { signal } from '@preact/signals'

/** Unix seconds at which the page was last made ready for paper. */
export const printedAt = signal(Date.now() / 1000)

const redraws = new Set<() => void>()

function redrawAll(): void {
  for (const redraw of redraws) redraw()
}

/** Calls back whenever the colours of the page have become others; returns how to stop. */
export function onColours(redraw: () => void): () => void {
  redraws.add(redraw)
  return () => redraws.delete(redraw)
}

for (const query of ['(prefers-color-scheme: dark)', 'print'])
  matchMedia(query).addEventListener('change', redrawAll)

// A drawing is copied to paper as it is at that moment, which in some browsers is before the style sheet is the one of paper.
function setPrinting(on: boolean): void {
  document.documentElement.classList.toggle('printing', on)
  if (on) printedAt.value = Date.now() / 1000
  redrawAll()
}

addEventListener('beforeprint', () => setPrinting(true))
addEventListener('afterprint', () => setPrinting(false))
