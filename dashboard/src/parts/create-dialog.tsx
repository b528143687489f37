import { useState } from 'preact/hooks'
import { createEndpoint } from '../model/account.ts'
import { networks } from '../model/networks.ts'
import { go } from '../route.ts'
import { Awaited } from './awaited.tsx'
import { Dialog } from './dialog.tsx'
import { say } from './toast.tsx'

/** Makes an endpoint: which network, and perhaps a name. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const [chain, setChain] = useState('')
  const [name, setName] = useState('')
  const create = async (): Promise<void> => {
    go('endpoints', await createEndpoint(chain, name.trim()))
    say('Endpoint created')
  }
  return (
    <Dialog
      title="Create an endpoint"
      action="Create"
      ready={chain !== ''}
      onSubmit={create}
      onClose={onClose}
    >
      <Awaited of={networks} what="the networks">
        {all => (
          <fieldset class="choices">
            <legend>Network</legend>
            {all.map(({ slug, name, chainId }) => (
              <label key={slug}>
                <input
                  type="radio"
                  name="chain"
                  value={slug}
                  required
                  checked={chain === slug}
                  onChange={() => setChain(slug)}
                />
                <span>
                  {name} <small>{chainId}</small>
                </span>
              </label>
            ))}
          </fieldset>
        )}
      </Awaited>
      <label>
        Name <small>optional</small>
        <input
          name="name"
          maxLength={64}
          autoComplete="off"
          placeholder="such as production"
          value={name}
          onInput={event => setName(event.currentTarget.value)}
        />
      </label>
    </Dialog>
  )
}
