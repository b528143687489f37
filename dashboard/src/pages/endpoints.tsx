import { useEffect, useMemo, useState } from 'preact/hooks'
import type { Endpoint } from '../api/types.ts'
import { Bulk } from '../endpoints/bulk.tsx'
import { choiceOf, PAGE, show } from '../endpoints/list.ts'
import { EndpointTable } from '../endpoints/table.tsx'
import { endpoints } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { networkName, networks } from '../model/networks.ts'
import { today } from '../model/usage.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Choose } from '../parts/choose.tsx'
import { CreateDialog } from '../parts/create-dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Pager } from '../parts/pager.tsx'
import { linkTo } from '../address.ts'
import { change, route } from '../route.ts'
import { count } from '../text/figure.ts'
import { labelTexts } from '../text/labels.ts'

/** All endpoints of the account. */
export function EndpointsPage() {
  const [creating, setCreating] = useState(false)
  useEffect(() => keepFresh(networks), [])
  useEffect(() => keepFresh(today), [])
  const create = (
    <button type="button" onClick={() => setCreating(true)}>
      Create endpoint
    </button>
  )
  return (
    <>
      <Heading title="Endpoints">{create}</Heading>
      <Awaited of={endpoints} what="your endpoints">
        {all => (all.length === 0 ? <NoEndpoints /> : <List all={all} />)}
      </Awaited>
      {creating && <CreateDialog onClose={() => setCreating(false)} />}
    </>
  )
}

function NoEndpoints() {
  return (
    <Empty title="No endpoints yet">
      <p>
        An endpoint is an access point to one network, with a key and URLs of its own. Make one for each
        program and stage.
      </p>
    </Empty>
  )
}

function List({ all }: { all: readonly Endpoint[] }) {
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set())
  const [used, names] = [today.known.value.value, networks.known.value.value]
  const listed = useMemo(() => {
    const requests = new Map(used?.map(row => [row.endpointId, row.requests]))
    return all.map(one => ({
      ...one,
      networkName: networkName(one.chain),
      today: used === null ? null : (requests.get(one.endpointId) ?? 0),
    }))
  }, [all, used, names])
  const choice = choiceOf(route.value.query)
  const { rows, ...shown } = show(listed, choice)
  const choose = (ids: readonly string[], on: boolean): void =>
    setChosen(before => new Set(on ? [...before, ...ids] : [...before].filter(id => !ids.includes(id))))
  const own = all.filter(({ endpointId }) => chosen.has(endpointId))
  return (
    <>
      <Filters all={all} search={choice.search} />
      {own.length > 0 && <Bulk chosen={own} onDone={() => setChosen(new Set())} />}
      {rows.length === 0 ? (
        <Empty title="No endpoint matches">
          <p>
            <a href={linkTo('endpoints')}>Show all {count(all.length, 'endpoint')}</a>
          </p>
        </Empty>
      ) : (
        <EndpointTable rows={rows} choice={choice} chosen={chosen} onChoose={choose} />
      )}
      <Pager on="endpoints" what="endpoints" size={PAGE} {...shown} />
    </>
  )
}

function Filters({ all, search }: { all: readonly Endpoint[]; search: string }) {
  const chains = [...new Set(all.map(({ chain }) => chain))]
  const labels = [...new Set(all.flatMap(one => labelTexts(one.labels)))].sort()
  const first = { page: '' }
  return (
    <div class="choices-row">
      <input
        type="search"
        class="search"
        aria-label="Search endpoints"
        placeholder="Name, label, network or key ending"
        value={search}
        onInput={event => change({ q: event.currentTarget.value, ...first }, 'replace')}
      />
      <Choose
        label="Network"
        name="network"
        options={[['', 'All networks'], ...chains.map(slug => [slug, networkName(slug)] as const)]}
        also={first}
      />
      <Choose
        label="Status"
        name="status"
        options={[
          ['', 'Active and inactive'],
          ['active', 'Active'],
          ['inactive', 'Inactive'],
        ]}
        also={first}
      />
      {labels.length > 0 && (
        <Choose
          label="Label"
          name="label"
          options={[['', 'All labels'], ...labels.map(label => [label, label] as const)]}
          also={first}
        />
      )}
      <span class="phone-only">
        <Choose
          label="Sort by"
          name="sort"
          options={[
            ['', 'Oldest first'],
            ['-created', 'Newest first'],
            ['name', 'By name'],
            ['-today', 'Most request units today'],
            ['-requests', 'Most request units in all'],
            ['-used', 'Last used'],
          ]}
          also={first}
        />
      </span>
    </div>
  )
}
