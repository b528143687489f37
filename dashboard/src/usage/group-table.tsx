import type { ComponentChildren } from 'preact'
import { Pager } from '../parts/pager.tsx'
import type { Usage } from '../model/usage.ts'
import { linkTo } from '../address.ts'
import { route } from '../route.ts'
import type { Query } from '../address.ts'
import { figure, share, trend } from '../text/figure.ts'
import { reasonAdvice, reasonName } from '../text/reasons.ts'
import type { Choice, Split } from './choice.ts'
import { shown, valueOf } from './measures.ts'
import { groupsOf } from './series.ts'
import type { Group, Series } from './series.ts'

/** Rows of a page of the table. */
const PAGE = 20

const HEADS: Readonly<Record<Split, string>> = {
  endpoint: 'Endpoint',
  method: 'Method',
  network: 'Network',
  reason: 'Reason',
}

interface Props extends Usage {
  readonly series: readonly Series[]
  readonly nameOf: (id: string) => string
}

/** Every group with its figures: the legend of the plot, and what its "others" hold. */
export function GroupTable({ choice, groups: rows, before, series, nameOf }: Props) {
  const { split, measure } = choice
  const groups = groupsOf(rows, split, measure)
  const pages = Math.max(1, Math.ceil(groups.length / PAGE))
  const page = Math.min(pages, Math.max(1, Math.floor(Number(route.value.query['page'] ?? 1)) || 1))
  const earlier = new Map(
    (before === null ? [] : groupsOf(before.groups, split, measure)).map(one => [one.id, one]),
  )
  return (
    <>
      <div class="scroll" tabIndex={0} role="region" aria-label={`Usage by ${split}`}>
        <table class="folding groups">
          <thead>
            <tr>
              <th scope="col">{HEADS[split]}</th>
              {(split === 'reason' ? ['Refused'] : COLUMNS).map(name => (
                <th key={name} scope="col" class="number">
                  {name}
                </th>
              ))}
              {before !== null && (
                <th scope="col" class="number">
                  Change
                </th>
              )}
              {split === 'reason' && <th scope="col">What helps</th>}
            </tr>
          </thead>
          <tbody>
            {groups.slice((page - 1) * PAGE, page * PAGE).map(group => (
              <Row
                key={group.id ?? ''}
                {...{ group, choice, nameOf }}
                colour={series.find(({ id }) => id !== null && id === group.id)?.colour}
                change={
                  before === null
                    ? null
                    : trend(valueOf(measure, group.sum), sumBefore(earlier.get(group.id), choice))
                }
              />
            ))}
          </tbody>
        </table>
      </div>
      <Pager on="usage" what="groups" size={PAGE} found={groups.length} {...{ page, pages }} />
    </>
  )
}

const COLUMNS = ['Request units', 'Calls', 'Errors', 'Refused', 'p50', 'p95']

const sumBefore = (group: Group | undefined, { measure }: Choice): number =>
  group === undefined ? 0 : valueOf(measure, group.sum)

interface RowProps {
  readonly group: Group
  readonly choice: Choice
  readonly nameOf: (id: string) => string
  /** Of its series; undefined where it is among the others. */
  readonly colour: number | undefined
  /** Null without a comparison. */
  readonly change: string | null
}

function Row({ group: { id, sum, groups }, choice: { split }, nameOf, colour, change }: RowProps) {
  const { requests, calls, errors, refusals } = sum
  return (
    <tr>
      <th scope="row">
        <span class="legend">
          <span class={`swatch series-${colour ?? 6}`} />
          <Name {...{ id, split, groups, nameOf }} />
        </span>
      </th>
      {split === 'reason' ? (
        <Cell name="Refused">{figure(refusals)}</Cell>
      ) : (
        <>
          <Cell name="Request units">{figure(requests)}</Cell>
          <Cell name="Calls">{figure(calls)}</Cell>
          <Cell name="Errors">
            {figure(errors)} <small>{share(errors, calls)}</small>
          </Cell>
          <Cell name="Refused">{figure(refusals)}</Cell>
          <Cell name="p50">{shown('p50', sum)}</Cell>
          <Cell name="p95">{shown('p95', sum)}</Cell>
        </>
      )}
      {change !== null && <Cell name="Change">{change}</Cell>}
      {split === 'reason' && <td class="whole">{reasonAdvice(id ?? '')}</td>}
    </tr>
  )
}

/** A figure; where the table is a list, its column's name is beside it. */
function Cell({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <td class="number" data-label={name}>
      {children}
    </td>
  )
}

/** What a click on a group looks into: an endpoint by its methods, the others by the endpoints that used them. */
const INTO: Readonly<Record<Exclude<Split, 'reason'>, Query>> = {
  endpoint: { split: 'method' },
  method: { split: '' },
  network: { split: '' },
}

interface NameProps {
  readonly id: string | null
  readonly split: Split
  readonly groups: number
  readonly nameOf: (id: string) => string
}

function Name({ id, split, groups, nameOf }: NameProps) {
  const { query } = route.value
  if (id === null)
    return <a href={linkTo('usage', '', { ...query, groups: 'all' })}>{figure(groups)} smaller ones</a>
  if (split === 'reason')
    return (
      <span>
        {reasonName(id)} <small>{id}</small>
      </span>
    )
  return (
    <a href={linkTo('usage', '', { ...query, ...INTO[split], [split]: id, page: '', groups: '' })}>
      {nameOf(id)}
    </a>
  )
}
