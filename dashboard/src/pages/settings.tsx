import { useEffect } from 'preact/hooks'
import type { Account, Endpoint } from '../api/types.ts'
import { account, endpoints } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { networkName, networks } from '../model/networks.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Pill } from '../parts/pill.tsx'
import { Restrictions } from '../parts/restrictions.tsx'
import { RevealButton, SecretLine, useSecrets } from '../parts/secret.tsx'
import { linkTo } from '../route.ts'
import { day } from '../text/time.ts'

/** API keys and what each may be used for; the account. */
export function SettingsPage() {
  useEffect(() => keepFresh(networks), [])
  return (
    <>
      <Heading title="Settings" />
      <section aria-labelledby="api-keys">
        <h2 id="api-keys">API Keys</h2>
        <p class="quiet-text">
          Each endpoint has a key of its own. To change a key, create another endpoint, move your program
          over, and delete the old one.
        </p>
        <Awaited of={endpoints} what="your keys">
          {all => (all.length === 0 ? <NoKeys /> : all.map(one => <KeyCard key={one.endpointId} {...one} />))}
        </Awaited>
      </section>
      <section aria-labelledby="account">
        <h2 id="account">Account</h2>
        <Awaited of={account} what="your account">
          {account => <AccountCard {...account} />}
        </Awaited>
      </section>
    </>
  )
}

function NoKeys() {
  return (
    <Empty title="No keys yet">
      <p>
        <a href={linkTo('endpoints')}>Create an endpoint</a> to get one.
      </p>
    </Empty>
  )
}

function KeyCard(endpoint: Endpoint) {
  const { endpointId, name, chain, status, management, allowedOrigins, allowedIps } = endpoint
  const { secrets, toggle } = useSecrets(endpointId)
  const limits = [
    allowedOrigins === null ? null : 'some origins',
    allowedIps === null ? null : 'some addresses',
    management ? null : 'no management',
  ].filter(limit => limit !== null)
  return (
    <article class="card" aria-label={name}>
      <div class="card-head">
        <h3>
          <a href={linkTo('endpoints', endpointId)}>{name}</a> <small>{networkName(chain)}</small>
        </h3>
        {status === 'inactive' && <Pill tone="off">inactive</Pill>}
        <RevealButton name={name} secrets={secrets} toggle={toggle} />
      </div>
      <SecretLine endpoint={endpoint} field="apiKey" label="API key" secrets={secrets} />
      <details>
        <summary>
          What it may be used for <small>{limits.length === 0 ? 'everything' : limits.join(', ')}</small>
        </summary>
        <Restrictions {...endpoint} />
      </details>
    </article>
  )
}

function AccountCard({ accountId, name, plan, createdAt }: Account) {
  return (
    <div class="card">
      <dl>
        <dt>Name</dt>
        <dd>{name}</dd>
        <dt>Account ID</dt>
        <dd>
          <code>{accountId}</code>
        </dd>
        <dt>Plan</dt>
        <dd>{plan}</dd>
        <dt>Since</dt>
        <dd>{day(createdAt)}</dd>
      </dl>
      <p class="quiet-text">
        Plans are changed, and a lost dashboard token is replaced, by whoever runs this gateway. A new token
        ends every session of the account.
      </p>
    </div>
  )
}
