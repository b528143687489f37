import { useEffect } from 'preact/hooks'
import type { Method } from '../api/types.ts'
import { endpoints } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { methodsOf, whyNot } from '../model/methods.ts'
import { networks } from '../model/networks.ts'
import type { LiveNetwork } from '../model/networks.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Choose } from '../parts/choose.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Pager } from '../parts/pager.tsx'
import { Pill } from '../parts/pill.tsx'
import { linkTo } from '../address.ts'
import { change, route } from '../route.ts'
import { count, figure } from '../text/figure.ts'

/** Methods of a page of the list. */
const PAGE = 50

const first = { page: '' }

/** What can be called on each network, and what it costs. */
export function MethodsPage() {
  useEffect(() => keepFresh(endpoints), [])
  return (
    <>
      <Heading title="Methods" />
      <Awaited of={networks} what="the networks">
        {all => (all.length === 0 ? <Empty title="No networks">{null}</Empty> : <OfNetwork all={all} />)}
      </Awaited>
    </>
  )
}

function OfNetwork({ all }: { all: readonly LiveNetwork[] }) {
  const { query } = route.value
  const network = all.find(({ slug }) => slug === query['network']) ?? all[0]!
  const methods = methodsOf(network.slug)
  return (
    <>
      <div class="choices-row">
        <Choose
          label="Network"
          name="network"
          options={all.map(({ slug, name }) => [slug, name])}
          value={network.slug}
          also={first}
        />
        <input
          type="search"
          class="search"
          aria-label="Search methods"
          placeholder="Search by name, tier or need"
          value={query['q'] ?? ''}
          onInput={event => change({ q: event.currentTarget.value, ...first }, 'replace')}
        />
        <Choose
          label="Which"
          name="which"
          options={[
            ['', 'All methods'],
            ['mine', 'Those I can call'],
            ['not', 'Those I cannot call'],
          ]}
          also={first}
        />
      </div>
      <Awaited key={network.slug} of={methods} what="its methods">
        {rows => <List rows={rows} chain={network.slug} family={network.family} />}
      </Awaited>
    </>
  )
}

interface ListProps {
  readonly rows: readonly Method[]
  readonly chain: string
  readonly family: LiveNetwork['family']
}

function List({ rows, chain, family }: ListProps) {
  const { q = '', which = '', page: asked = '1' } = route.value.query
  const words = q.toLowerCase().split(/\s+/)
  const matching = rows.filter(one => {
    const text = `${one.method} ${one.tier} ${one.needs.join(' ')}`.toLowerCase()
    const isMine = whyNot(one) === ''
    return (which === '' || (which === 'mine') === isMine) && words.every(word => text.includes(word))
  })
  const [mine, others] = [
    matching.filter(one => whyNot(one) === ''),
    matching.filter(one => whyNot(one) !== ''),
  ]
  const found = [...mine, ...others]
  if (found.length === 0)
    return (
      <Empty title="No method matches">
        <p>
          <a href={linkTo('methods', '', { network: chain })}>Show all {count(rows.length, 'method')}</a>
        </p>
      </Empty>
    )
  const pages = Math.ceil(found.length / PAGE)
  const page = Math.min(pages, Math.max(1, Math.floor(Number(asked)) || 1))
  const tryOn =
    family === 'http'
      ? undefined
      : endpoints.known.value.value?.find(
          ({ chain: own, status, allowedOrigins }) =>
            own === chain && status === 'active' && allowedOrigins === null,
        )?.endpointId
  return (
    <>
      <p class="quiet-text">
        Prices are in request units, as are your quota and rate. Those that you can call come first. A name
        that ends in * stands for all methods that begin like this.{' '}
        {tryOn === undefined && family !== 'http' && (
          <>
            To try them, have an active <a href={linkTo('endpoints')}>endpoint</a> on this network without
            allowed origins.
          </>
        )}
      </p>
      <div class="card flush">
        <table class="folding methods">
          <thead>
            <tr>
              <th scope="col">Method</th>
              <th scope="col" class="number">
                Price
              </th>
              <th scope="col">Tier</th>
              <th scope="col">Needs</th>
              <th scope="col">For you</th>
              <th scope="col">Try it</th>
            </tr>
          </thead>
          <tbody>
            {found.slice((page - 1) * PAGE, page * PAGE).map(one => (
              <Row key={one.method} one={one} tryOn={tryOn} />
            ))}
          </tbody>
        </table>
      </div>
      <Pager on="methods" what="methods" size={PAGE} found={found.length} {...{ page, pages }} />
    </>
  )
}

function Row({ one, tryOn }: { one: Method; tryOn: string | undefined }) {
  const { method, cost, tier, needs, wssOnly } = one
  const why = whyNot(one)
  const canTry = why === '' && !wssOnly && !method.endsWith('*') && tryOn !== undefined
  return (
    <tr>
      <th scope="row">
        <code>{method}</code>
      </th>
      <td class="number" data-label="Price">
        {figure(cost)}
      </td>
      <td data-label="Tier">{tier}</td>
      <td data-label="Needs">{needs.join(', ') || '–'}</td>
      <td>
        {why === '' ? <Pill tone="good">{wssOnly ? 'over WSS' : 'yes'}</Pill> : <Pill tone="off">{why}</Pill>}
      </td>
      <td>
        {canTry && (
          <a href={linkTo('endpoints', tryOn, { method })} aria-label={`Try ${method}`}>
            Try
          </a>
        )}
      </td>
    </tr>
  )
}
