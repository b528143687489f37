/**
 * Which page is shown, and its state: the part of the URL behind `#`, so that every page is one file, the back button works, and what one sees can be
 * sent to somebody else.
 */
import { signal } from '@preact/signals'
import { linkTo, parseRoute } from './address.ts'
import type { PageName, Query } from './address.ts'

/** The present one. */
export const route = signal(parseRoute(location.hash))

addEventListener('hashchange', () => {
  route.value = parseRoute(location.hash)
})

/** Goes to a page. */
export function go(page: PageName, id = '', query: Query = {}): void {
  location.hash = linkTo(page, id, query)
}

/** Changes some of the state of the present page; typing replaces the entry in the browser's history, other choices make a new one. */
export function change(query: Query, how: 'push' | 'replace' = 'push'): void {
  const { page, id, query: before } = route.value
  if (page === null) return
  const next = linkTo(page, id, { ...before, ...query })
  if (how === 'push') {
    location.hash = next
    return
  }
  history.replaceState(null, '', next)
  route.value = parseRoute(location.hash)
}
