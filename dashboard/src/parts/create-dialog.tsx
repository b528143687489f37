import { useState } from 'preact/hooks'
import { account, createEndpoint, endpoints } from '../model/account.ts'
import { networks } from '../model/networks.ts'
import { go } from '../route.ts'
import { figure } from '../text/figure.ts'
import { Awaited } from './awaited.tsx'
import { Dialog } from './dialog.tsx'
import { NameField } from './field.tsx'
import { say } from './toast.tsx'

/** Makes an endpoint, or says why there can be no other one. */
export function CreateDialog({ onClose }: { onClose: () => void }) {
  const limit = account.known.value.value?.endpoints.limit
  const used = endpoints.known.value.value?.length ?? 0
  return limit !== undefined && used >= limit ? (
    <FullDialog limit={limit} onClose={onClose} />
  ) : (
    <WishDialog onClose={onClose} />
  )
}

function FullDialog({ limit, onClose }: { limit: number; onClose: () => void }) {
  const show = (): Promise<void> => {
    go('endpoints', '', { sort: 'used' })
    return Promise.resolve()
  }
  return (
    <Dialog title="Your account is full" action="Show the least used" onSubmit={show} onClose={onClose}>
      <p>
        An account has at most {figure(limit)} endpoints, inactive ones included. Delete one that you do not
        need any more: its usage stays in your totals. Those that were last used long ago come first.
      </p>
    </Dialog>
  )
}

/** Which network, and perhaps a name. */
function WishDialog({ onClose }: { onClose: () => void }) {
  const [chosen, setChain] = useState('')
  const all = networks.known.value.value
  // Of several networks none is a likely guess.
  const chain = chosen === '' && all?.length === 1 ? all[0]!.slug : chosen
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
      <NameField
        label="Name"
        note="optional"
        placeholder="such as production"
        value={name}
        onType={setName}
      />
    </Dialog>
  )
}
