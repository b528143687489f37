import { linkTo } from '../address.ts'
import { route } from '../route.ts'
import type { PageName } from '../address.ts'

interface Props {
  /** The page of the program that it stands on. */
  readonly on: PageName
  readonly label: string
  /** How the URL names the order. */
  readonly order: string
  /** The order as it is now. */
  readonly now: string
  readonly down: boolean
  /** Figures are sorted from the largest first. */
  readonly isNumber?: boolean
}

/** The head of a column, which sorts by it: once more the other way round. */
export function SortHead({ on, label, order, now, down, isNumber = false }: Props) {
  const isSorted = now === order
  const next = (isSorted ? !down : isNumber) ? `-${order}` : order
  const { id, query } = route.value
  return (
    <th
      scope="col"
      class={isNumber ? 'number' : ''}
      aria-sort={isSorted ? (down ? 'descending' : 'ascending') : undefined}
    >
      <a class="sort" href={linkTo(on, id, { ...query, sort: next, page: '' })}>
        {label}
        <span aria-hidden="true">{isSorted ? (down ? ' ↓' : ' ↑') : ''}</span>
      </a>
    </th>
  )
}
