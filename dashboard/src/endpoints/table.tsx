import { reveal } from '../model/account.ts'
import { CopyButton } from '../parts/copy-button.tsx'
import { Labels } from '../parts/labels.tsx'
import { Pill } from '../parts/pill.tsx'
import { SortHead } from '../parts/sort-head.tsx'
import { linkTo } from '../address.ts'
import { figure } from '../text/figure.ts'
import { day, lastUsed } from '../text/time.ts'
import type { Choice, Listed, Order } from './list.ts'

interface Props {
  readonly rows: readonly Listed[]
  readonly choice: Choice
  readonly chosen: ReadonlySet<string>
  readonly onChoose: (ids: readonly string[], on: boolean) => void
}

/** Labels of a row: its page has all. */
const MOST_LABELS = 3

const HEADS: readonly (readonly [order: Order, label: string, isNumber: boolean])[] = [
  ['name', 'Name', false],
  ['network', 'Network', false],
  ['status', 'Status', false],
  ['today', 'Request units today', true],
  ['requests', 'In all', true],
  ['used', 'Last used', true],
  ['created', 'Created', true],
]

/** Endpoints, one line each. */
export function EndpointTable({ rows, choice, chosen, onChoose }: Props) {
  const ids = rows.map(({ endpointId }) => endpointId)
  const isAll = ids.every(id => chosen.has(id))
  return (
    <div class="card flush">
      <table class="folding picking">
        <thead>
          <tr>
            <td class="pick">
              <input
                type="checkbox"
                aria-label="Choose all on this page"
                checked={isAll}
                onChange={() => onChoose(ids, !isAll)}
              />
            </td>
            {HEADS.map(([order, label, isNumber]) => (
              <SortHead
                key={order}
                on="endpoints"
                {...{ order, label, isNumber, now: choice.order, down: choice.down }}
              />
            ))}
            <th scope="col">URL</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(one => (
            <Row
              key={one.endpointId}
              one={one}
              isChosen={chosen.has(one.endpointId)}
              onChoose={on => onChoose([one.endpointId], on)}
            />
          ))}
        </tbody>
      </table>
    </div>
  )
}

interface RowProps {
  readonly one: Listed
  readonly isChosen: boolean
  readonly onChoose: (on: boolean) => void
}

function Row({ one, isChosen, onChoose }: RowProps) {
  const { endpointId, name, networkName, status, today, requestCount, createdAt } = one
  return (
    <tr>
      <td class="pick">
        <input
          type="checkbox"
          aria-label={`Choose ${name}`}
          checked={isChosen}
          onChange={event => onChoose(event.currentTarget.checked)}
        />
      </td>
      <th scope="row">
        <a href={linkTo('endpoints', endpointId)} title={name}>
          {name}
        </a>
        <Labels labels={one.labels} most={MOST_LABELS} />
      </th>
      <td>{networkName}</td>
      <td>
        <Pill tone={status === 'active' ? 'good' : 'off'}>{status}</Pill>
      </td>
      <td class="number" data-label="Units today">
        {today === null ? '…' : figure(today)}
      </td>
      <td class="number" data-label="Units in all">
        {figure(requestCount)}
      </td>
      <td class="number" data-label="Last used">
        {lastUsed(one, Date.now() / 1000)}
      </td>
      <td class="number" data-label="Created">
        {day(createdAt)}
      </td>
      <td>
        <CopyButton
          what={`HTTPS URL of ${name}`}
          fetchText={async () => (await reveal(endpointId)).httpsUrl}
        />
      </td>
    </tr>
  )
}
