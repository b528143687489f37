import { useEffect, useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Endpoint } from '../api/types.ts'
import { deleteEndpoint, endpoints, updateEndpoint } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { networkName, networks } from '../model/networks.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Dialog } from '../parts/dialog.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { Pill } from '../parts/pill.tsx'
import { RevealButton, SecretLine, useSecrets } from '../parts/secret.tsx'
import { SnippetTabs } from '../parts/snippet-tabs.tsx'
import { say } from '../parts/toast.tsx'
import { TryIt } from '../parts/try-it.tsx'
import { go, linkTo } from '../route.ts'
import { figure } from '../text/figure.ts'
import { day } from '../text/time.ts'

/** One endpoint: how to reach it, and what can be done to it. */
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
  const { endpointId, name, chain, status, httpsUrl } = endpoint
  const { secrets, toggle } = useSecrets(endpointId)
  const network = networks.known.value.value?.find(({ slug }) => slug === chain)
  return (
    <>
      <p class="crumbs">
        <a href={linkTo('endpoints')}>Endpoints</a>
      </p>
      <Heading title={name}>
        <Actions {...endpoint} />
      </Heading>
      <p class="facts">
        <Pill tone={status === 'active' ? 'good' : 'off'}>{status}</Pill>
        <span>{networkName(chain)}</span>
        <span>{figure(endpoint.requestCount)} requests</span>
        <span>created {day(endpoint.createdAt)}</span>
        <code>{endpointId}</code>
      </p>
      {httpsUrl === '' ? (
        <Empty title="This network is no longer served">
          <p>The endpoint still counts towards your limit; delete it when you do not need it.</p>
        </Empty>
      ) : (
        <>
          <section class="card">
            <div class="card-head">
              <h2>Connect</h2>
              <RevealButton name={name} secrets={secrets} toggle={toggle} />
            </div>
            <SecretLine endpoint={endpoint} field="apiKey" label="API key" secrets={secrets} />
            <SecretLine endpoint={endpoint} field="httpsUrl" label="HTTPS URL" secrets={secrets} />
            {network?.wss === true && (
              <SecretLine endpoint={endpoint} field="wssUrl" label="WSS URL" secrets={secrets} />
            )}
            <p class="quiet-text">
              Keep the key out of web pages, or limit it in <a href={linkTo('settings')}>Settings</a>.
            </p>
          </section>
          {network !== undefined && (
            <>
              <SnippetTabs endpoint={endpoint} family={network.family} secrets={secrets} />
              {network.family !== 'http' && <TryIt endpoint={endpoint} family={network.family} />}
            </>
          )}
        </>
      )}
    </>
  )
}

function Actions({ endpointId, name, status }: Endpoint) {
  const [asking, setAsking] = useState<'' | 'rename' | 'delete'>('')
  const close = (): void => setAsking('')
  const other = status === 'active' ? 'inactive' : 'active'
  const toggle = (): void =>
    void updateEndpoint(endpointId, { status: other }).then(
      () => say(`The endpoint is ${other} now`),
      (error: unknown) => say(sentence(error)),
    )
  return (
    <>
      <button type="button" class="quiet" onClick={() => setAsking('rename')}>
        Rename
      </button>
      <button type="button" class="quiet" onClick={toggle}>
        {status === 'active' ? 'Deactivate' : 'Activate'}
      </button>
      <button type="button" class="quiet danger" onClick={() => setAsking('delete')}>
        Delete
      </button>
      {asking === 'rename' && <RenameDialog endpointId={endpointId} name={name} onClose={close} />}
      {asking === 'delete' && <DeleteDialog endpointId={endpointId} name={name} onClose={close} />}
    </>
  )
}

interface DialogProps {
  readonly endpointId: string
  readonly name: string
  readonly onClose: () => void
}

function RenameDialog({ endpointId, name, onClose }: DialogProps) {
  const [wish, setWish] = useState(name)
  const rename = async (): Promise<void> => {
    await updateEndpoint(endpointId, { name: wish.trim() })
    say('Endpoint renamed')
  }
  return (
    <Dialog
      title="Rename the endpoint"
      action="Rename"
      ready={wish.trim() !== ''}
      onSubmit={rename}
      onClose={onClose}
    >
      <label>
        Name
        <input
          maxLength={64}
          autoComplete="off"
          value={wish}
          onInput={event => setWish(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  )
}

function DeleteDialog({ endpointId, name, onClose }: DialogProps) {
  const [typed, setTyped] = useState('')
  const remove = async (): Promise<void> => {
    await deleteEndpoint(endpointId)
    say('Endpoint deleted')
    go('endpoints')
  }
  return (
    <Dialog
      title="Delete the endpoint"
      action="Delete"
      danger
      ready={typed === name}
      onSubmit={remove}
      onClose={onClose}
    >
      <p>
        Its key stops working at once, its open sockets close, and neither can be undone. Usage stays in the
        account's totals.
      </p>
      <label>
        <span>
          Type <strong>{name}</strong> to confirm
        </span>
        <input
          autoComplete="off"
          spellcheck={false}
          value={typed}
          onInput={event => setTyped(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  )
}
