/** The part of the URL behind `#`: which page it names, and in which state. */

/** The pages, in the order of the navigation. */
export const PAGES = ['overview', 'endpoints', 'usage', 'methods', 'networks', 'settings'] as const
export type PageName = (typeof PAGES)[number]

/** The state of a page by name; what is as usual is absent. */
export type Query = Readonly<Record<string, string>>

/** A page, the endpoint that it is about, and its state. */
export interface Route {
  /** Null when the URL names no page. */
  readonly page: PageName | null
  readonly id: string
  readonly query: Query
}

/** Reads the part of a URL behind `#`. */
export function parseRoute(hash: string): Route {
  const [path = '', search = ''] = hash.replace(/^#/, '').split('?', 2)
  const [, name = '', id = '', ...more] = path.split('/')
  const known = name === '' ? 'overview' : PAGES.find(page => page === name)
  const hasId = id === '' || (known === 'endpoints' && /^[\w-]+$/.test(id))
  const page = known === undefined || !hasId || more.length > 0 ? null : known
  return { page, id: page === null ? '' : id, query: Object.fromEntries(new URLSearchParams(search)) }
}

/** The link to a page; empty values of its state are left out. */
export function linkTo(page: PageName, id = '', query: Query = {}): string {
  const search = new URLSearchParams(Object.entries(query).filter(([, value]) => value !== '')).toString()
  return `#/${page}${id === '' ? '' : `/${id}`}${search === '' ? '' : `?${search}`}`
}
