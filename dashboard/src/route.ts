/** Which page is shown: the part of the URL behind `#`, so that every page is one file and the back button works. */
import { signal } from '@preact/signals'

/** The pages, in the order of the navigation. */
export const PAGES = ['overview', 'endpoints', 'usage', 'networks', 'settings'] as const
export type PageName = (typeof PAGES)[number]

/** A page, and the endpoint that it is about. */
export interface Route {
  readonly page: PageName
  readonly id: string
}

function read(): Route {
  const [, name = '', id = ''] = location.hash.split('/')
  const page = PAGES.find(page => page === name) ?? 'overview'
  return { page, id: /^[\w-]+$/.test(id) ? id : '' }
}

/** The present one. */
export const route = signal(read())

addEventListener('hashchange', () => {
  route.value = read()
})

/** The link to a page. */
export const linkTo = (page: PageName, id = ''): string => (id === '' ? `#/${page}` : `#/${page}/${id}`)

/** Goes to a page. */
export function go(page: PageName, id = ''): void {
  location.hash = linkTo(page, id)
}
