import { useEffect, useLayoutEffect, useState } from 'preact/hooks'
import type { Endpoint } from '../api/types.ts'
import { Actions } from '../endpoints/actions.tsx'
import { endpoints } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { networkName, networks } from '../model/networks.ts'
import { endpointDays } from '../model/usage.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Labels } from '../parts/labels.tsx'
import { Pill } from '../parts/pill.tsx'
import { Restrictions } from '../parts/restrictions.tsx'
import { RevealButton, SecretLine, useSecrets } from '../parts/secret.tsx'
import { SnippetTabs } from '../parts/snippet-tabs.tsx'
import { TryIt } from '../parts/try-it.tsx'
import { linkTo } from '../address.ts'
import { count } from '../text/figure.ts'
import { day, lastUsed, stepName } from '../text/time.ts'
import { LastDay, halves } from '../usage/day.tsx'
import { Reasons } from '../usage/reasons.tsx'

/** One endpoint: how to reach it, what it used, and what can be done to it. */
export function EndpointPage({ id }: { id: string }) {
  useEffect(() => keepFresh(networks), [])
  return (
    <Awaited of={endpoints} what="your endpoints">
      {all => {
        const endpoint = all.find(({ endpointId }) => endpointId === id)
        return endpoint === undefined ? <Gone /> : <Shown {...endpoint} />
      }}
    </Awaited>
  )
}

function Gone() {
  return (
    <>
      <Heading title="Endpoint" />
      <Empty title="There is no such endpoint">
        <p>
          It may have been deleted. <a href={linkTo('endpoints')}>All endpoints</a>
        </p>
      </Empty>
    </>
  )
}

function Shown(endpoint: Endpoint) {
  const { endpointId, name, chain, status, httpsUrl, requestCount } = endpoint
  const [oldKey, setOldKey] = useState<number | null | undefined>(undefined)
  const expires = endpoint.expiresAt
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('endpoints')}>Endpoints</a>
      </p>
      <Heading title={name}>
        <Actions endpoint={endpoint} onRotated={setOldKey} />
      </Heading>
      <p class="facts">
        <Pill tone={status === 'active' ? 'good' : 'off'}>{status}</Pill>
        <span>{networkName(chain)}</span>
        <span>{count(requestCount, 'request unit')}</span>
        <span>last used: {lastUsed(endpoint, Date.now() / 1000)}</span>
        <span>created {day(endpoint.createdAt)}</span>
        {expires !== null && <span>key expires {stepName(expires, 'hour')}</span>}
        <code>{endpointId}</code>
      </p>
      <Labels labels={endpoint.labels} />
      {oldKey !== undefined && (
        <p class="notice" role="status">
          {oldKey === null
            ? 'The endpoint has a new key, and the old one is refused.'
            : `The endpoint has a new key. The old one works until ${stepName(oldKey, 'hour')} (UTC).`}
        </p>
      )}
      {httpsUrl === '' ? (
        <Empty title="This network is no longer served">
          <p>The endpoint still counts towards your limit; delete it when you do not need it.</p>
        </Empty>
      ) : (
        <Use endpoint={endpoint} />
      )}
      <section class="card" aria-labelledby="restrictions">
        <h2 id="restrictions">What the key may be used for</h2>
        <Restrictions {...endpoint} />
      </section>
    </>
  )
}

function Use({ endpoint }: { endpoint: Endpoint }) {
  const { endpointId, name, chain, keyHint, wssUrl } = endpoint
  const { secrets, toggle, forget } = useSecrets(endpointId)
  // What is revealed is an old key after a rotation.
  useEffect(forget, [keyHint])
  const network = networks.known.value.value?.find(({ slug }) => slug === chain)
  return (
    <>
      <section class="card">
        <div class="card-head">
          <h2>Connect</h2>
          <RevealButton name={name} secrets={secrets} toggle={toggle} />
        </div>
        <SecretLine endpoint={endpoint} field="apiKey" label="API key" secrets={secrets} />
        <SecretLine endpoint={endpoint} field="httpsUrl" label="HTTPS URL" secrets={secrets} />
        {wssUrl !== '' && <SecretLine endpoint={endpoint} field="wssUrl" label="WSS URL" secrets={secrets} />}
        <p class="quiet-text">Keep the key out of web pages, or limit it to their origins below.</p>
      </section>
      <Usage id={endpointId} />
      {network !== undefined && (
        <>
          <SnippetTabs endpoint={endpoint} family={network.family} secrets={secrets} />
          {network.family !== 'http' && <TryIt endpoint={endpoint} family={network.family} />}
        </>
      )}
    </>
  )
}

function Usage({ id }: { id: string }) {
  useLayoutEffect(() => endpointDays.clear(), [id])
  return (
    <section class="card" aria-labelledby="last-day">
      <h2 id="last-day">Last 24 hours</h2>
      <Awaited of={endpointDays} what="its usage">
        {known =>
          known.rows.length === 0 ? (
            <p class="quiet-text">No calls in the last 24 hours.</p>
          ) : (
            <>
              <LastDay {...known} />
              <Reasons sum={halves(known.to, known.rows).now} />
            </>
          )
        }
      </Awaited>
      <p class="quiet-text">
        Hours are UTC · <a href={linkTo('usage', '', { endpoint: id, split: 'method' })}>usage by method</a>
      </p>
    </section>
  )
}
