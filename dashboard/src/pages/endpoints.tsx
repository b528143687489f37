import { signal } from '@preact/signals'
import { useEffect, useState } from 'preact/hooks'
import type { Endpoint } from '../api/types.ts'
import { endpoints, reveal } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { networkName, networks } from '../model/networks.ts'
import { Awaited } from '../parts/awaited.tsx'
import { CopyButton } from '../parts/copy-button.tsx'
import { CreateDialog } from '../parts/create-dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Pill } from '../parts/pill.tsx'
import { linkTo } from '../route.ts'
import { count, figure } from '../text/figure.ts'
import { day } from '../text/time.ts'

const search = signal('')

/** All endpoints of the account. */
export function EndpointsPage() {
  const [creating, setCreating] = useState(false)
  useEffect(() => keepFresh(networks), [])
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
  const words = search.value.toLowerCase().split(/\s+/)
  const found = all.filter(endpoint => {
    const text = `${endpoint.name} ${endpoint.chain} ${networkName(endpoint.chain)} ${endpoint.endpointId}`
    return words.every(word => text.toLowerCase().includes(word))
  })
  return (
    <>
      <input
        type="search"
        class="search"
        aria-label="Search endpoints"
        placeholder={`Search ${count(all.length, 'endpoint')} by name or network`}
        value={search.value}
        onInput={event => (search.value = event.currentTarget.value)}
      />
      {found.length === 0 ? (
        <Empty title={`Nothing matches “${search.value}”`}>
          <button type="button" class="quiet" onClick={() => (search.value = '')}>
            Show all
          </button>
        </Empty>
      ) : (
        <div class="card flush">
          <table class="folding">
            <thead>
              <tr>
                <th scope="col">Name</th>
                <th scope="col">Network</th>
                <th scope="col">Status</th>
                <th scope="col" class="number">
                  Requests
                </th>
                <th scope="col">Created</th>
                <th scope="col">HTTPS URL</th>
              </tr>
            </thead>
            <tbody>
              {found.map(endpoint => (
                <Row key={endpoint.endpointId} {...endpoint} />
              ))}
            </tbody>
          </table>
        </div>
      )}
    </>
  )
}

function Row({ endpointId, name, chain, status, requestCount, createdAt }: Endpoint) {
  return (
    <tr>
      <th scope="row">
        <a href={linkTo('endpoints', endpointId)}>{name}</a>
      </th>
      <td>{networkName(chain)}</td>
      <td>
        <Pill tone={status === 'active' ? 'good' : 'off'}>{status}</Pill>
      </td>
      <td class="number" data-label="Requests">
        {figure(requestCount)}
      </td>
      <td data-label="Created">{day(createdAt)}</td>
      <td>
        <CopyButton
          what={`HTTPS URL of ${name}`}
          fetchText={async () => (await reveal(endpointId)).httpsUrl}
        />
      </td>
    </tr>
  )
}
