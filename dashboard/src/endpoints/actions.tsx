import { useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Endpoint } from '../api/types.ts'
import { deleteEndpoint, rotateKey, updateEndpoint } from '../model/account.ts'
import { Dialog } from '../parts/dialog.tsx'
import { LinesField, NameField } from '../parts/field.tsx'
import { say } from '../parts/toast.tsx'
import { go } from '../route.ts'
import { labelChange, labelTexts } from '../text/labels.ts'

interface Props {
  readonly endpoint: Endpoint
  /** Told after a rotation, with the end of the old key. */
  readonly onRotated: (oldKeyExpiresAt: number | null) => void
}

/** What can be done to an endpoint as a whole. */
export function Actions({ endpoint, onRotated }: Props) {
  const { endpointId, name, status } = endpoint
  const [asking, setAsking] = useState<'' | 'edit' | 'rotate' | 'delete'>('')
  const close = (): void => setAsking('')
  const other = status === 'active' ? 'inactive' : 'active'
  const toggle = (): void =>
    void updateEndpoint(endpointId, { status: other }).then(
      () => say(`The endpoint is ${other} now`),
      (error: unknown) => say(sentence(error)),
    )
  return (
    <>
      <button type="button" class="quiet" onClick={() => setAsking('edit')}>
        Name and labels
      </button>
      <button type="button" class="quiet" onClick={() => setAsking('rotate')}>
        Rotate key
      </button>
      <button type="button" class="quiet" onClick={toggle}>
        {status === 'active' ? 'Deactivate' : 'Activate'}
      </button>
      <button type="button" class="quiet danger" onClick={() => setAsking('delete')}>
        Delete
      </button>
      {asking === 'edit' && <EditDialog endpoint={endpoint} onClose={close} />}
      {asking === 'rotate' && <RotateDialog {...{ endpointId, onRotated }} onClose={close} />}
      {asking === 'delete' && <DeleteDialog endpointId={endpointId} name={name} onClose={close} />}
    </>
  )
}

interface DialogProps {
  readonly endpointId: string
  readonly name: string
  readonly onClose: () => void
}

function EditDialog({ endpoint, onClose }: { endpoint: Endpoint; onClose: () => void }) {
  // Somebody else may change them while they are typed here: what is saved is what was changed here.
  const [before] = useState(endpoint)
  const [name, setName] = useState(before.name)
  const [text, setText] = useState(labelTexts(before.labels).join('\n'))
  const save = async (): Promise<void> => {
    const named = name.trim() === before.name ? {} : { name: name.trim() }
    await updateEndpoint(before.endpointId, { ...named, labels: labelChange(before.labels, text) })
    say('Saved')
  }
  return (
    <Dialog
      title="Name and labels"
      action="Save"
      ready={name.trim() !== ''}
      onSubmit={save}
      onClose={onClose}
    >
      <NameField label="Name" value={name} onType={setName} />
      <LinesField
        label="Labels"
        note="to find and filter it by, one a line"
        rows={3}
        placeholder="team=wallet"
        value={text}
        onType={setText}
      />
    </Dialog>
  )
}

/** A name as it can be typed: no keyboard has every kind of space. */
const typable = (name: string): string => name.trim().replace(/\s+/g, ' ')

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
      ready={typable(typed) === typable(name)}
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

const OVERLAPS = [
  ['1h', '1 hour'],
  ['24h', '1 day'],
  ['7d', '7 days'],
  ['30d', '30 days'],
  ['0s', 'not at all: the key was leaked'],
] as const

function RotateDialog({
  endpointId,
  onRotated,
  onClose,
}: Omit<DialogProps, 'name'> & Pick<Props, 'onRotated'>) {
  const [overlap, setOverlap] = useState<string>(OVERLAPS[0][0])
  const rotate = async (): Promise<void> => {
    onRotated((await rotateKey(endpointId, overlap)).oldKeyExpiresAt)
    say('The endpoint has a new key')
  }
  return (
    <Dialog title="Rotate the key" action="Rotate" onSubmit={rotate} onClose={onClose}>
      <p>The endpoint gets a new key. Its name, restrictions and usage stay.</p>
      <label>
        The old key works for
        <select value={overlap} onChange={event => setOverlap(event.currentTarget.value)}>
          {OVERLAPS.map(([value, text]) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
        </select>
      </label>
    </Dialog>
  )
}
