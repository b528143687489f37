import type { Page } from 'playwright-core'

/** Boxes that may be scrolled sideways: programs, keys, and tables of every step. */
const SCROLLED = 'pre, .secret-text, .long'
/** Those that may hold more than they show: what is typed, and short forms of what their title says. */
const SHORTENED = 'input, [title]'

/** Visible boxes beyond the edge of the screen, and those that hold more than they show, one line each. */
const CUT = `[...document.querySelectorAll('body *')].flatMap(one => {
  const style = getComputedStyle(one)
  const isHidden = !one.checkVisibility() || (innerWidth < 768 && one.closest('.folding thead') !== null)
  if (isHidden || one.closest('svg, .uplot, ${SCROLLED}') !== null) return []
  const { left, right, width } = one.getBoundingClientRect()
  const cuts = !one.matches('${SHORTENED}') && ['hidden', 'clip', 'auto', 'scroll'].includes(style.overflowX) && one.scrollWidth > one.clientWidth + 1
  const what = width > 0 && (right > innerWidth + 1 || left < -1) ? 'beyond the edge' : cuts ? 'cut' : ''
  return what === '' ? [] : [what + ': ' + one.outerHTML.slice(0, 120)]
})`

/** What of the page as it is cannot be seen without scrolling sideways. */
export async function cutParts(page: Page): Promise<string[]> {
  return page.evaluate<string[]>(CUT)
}
