import { linkTo } from '../address.ts'
import { route } from '../route.ts'
import type { PageName } from '../address.ts'
import { figure } from '../text/figure.ts'

interface Props {
  /** The page of the program that it stands on. */
  readonly on: PageName
  /** What is paged, such as "endpoints". */
  readonly what: string
  /** Rows of a page at most. */
  readonly size: number
  readonly found: number
  /** From 1. */
  readonly page: number
  readonly pages: number
}

/** Which part of a list is shown, and the ways to the others; nothing where all of it is. */
export function Pager({ on, what, size, found, page, pages }: Props) {
  if (pages === 1) return null
  const { id, query } = route.value
  const to = (next: number): string => linkTo(on, id, { ...query, page: next === 1 ? '' : String(next) })
  const first = (page - 1) * size + 1
  return (
    <nav class="pager" aria-label={`Pages of ${what}`}>
      <span>
        {figure(first)}–{figure(Math.min(found, page * size))} of {figure(found)}
      </span>
      {page > 1 && (
        <a href={to(page - 1)} rel="prev">
          Previous
        </a>
      )}
      {page < pages && (
        <a href={to(page + 1)} rel="next">
          Next
        </a>
      )}
    </nav>
  )
}
