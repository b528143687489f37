import type { Routes } from '../api/types.ts'
import { operator } from '../brand.ts'
import { networks } from '../model/networks.ts'
import type { LiveNetwork } from '../model/networks.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Pill } from '../parts/pill.tsx'
import { count, figure } from '../text/figure.ts'

/** The networks with their live state. */
export function NetworksPage() {
  return (
    <>
      <Heading title="Networks" />
      <Awaited of={networks} what="the networks">
        {all =>
          all.length === 0 ? (
            <Empty title="No networks">
              <p>{operator} has not set up any network yet.</p>
            </Empty>
          ) : (
            <div class="cards">
              {all.map(network => (
                <NetworkCard key={network.slug} {...network} />
              ))}
            </div>
          )
        }
      </Awaited>
    </>
  )
}

/** Capabilities by the name an account owner knows them under. */
const NAMES: Readonly<Record<string, string>> = { ws: 'WSS' }

function NetworkCard({ name, slug, chainId, head, routes, healthy, capabilities, family }: LiveNetwork) {
  return (
    <section class="card network" aria-label={name}>
      <div class="card-head">
        <h2>{name}</h2>
        <Health routes={routes} healthy={healthy} />
      </div>
      <dl>
        <dt>{family === 'solana' ? 'Slot' : 'Head'}</dt>
        <dd class="figure">{head === null ? 'not known yet' : figure(head)}</dd>
        <dt>Slug</dt>
        <dd>
          <code>{slug}</code>
        </dd>
        <dt>{typeof chainId === 'number' ? 'Chain ID' : 'Identifier'}</dt>
        <dd>
          <code>{chainId}</code>
        </dd>
      </dl>
      <ul class="chips" aria-label="Capabilities">
        {Object.entries(capabilities).map(([word, routes]) => (
          <Capability key={word} name={NAMES[word] ?? word} {...routes} />
        ))}
      </ul>
    </section>
  )
}

function Health({ routes, healthy }: Routes) {
  if (healthy === 0) return <Pill tone="bad">down</Pill>
  if (healthy === routes) return <Pill tone="good">{`${count(routes, 'route')} up`}</Pill>
  return <Pill tone="off">{`${figure(healthy)} of ${count(routes, 'route')} up`}</Pill>
}

function Capability({ name, routes, healthy }: Routes & { name: string }) {
  const [tone, told] =
    routes === 0
      ? ['none', 'not offered']
      : healthy === 0
        ? ['down', 'down now']
        : [
            '',
            healthy === routes ? count(routes, 'route') : `${figure(healthy)} of ${count(routes, 'route')}`,
          ]
  return (
    <li class={tone}>
      <span>{name}</span> <small>{told}</small>
    </li>
  )
}
