import { useState } from 'preact/hooks'
import type { Endpoint } from '../api/types.ts'
import { updateEndpoints } from '../model/account.ts'
import { Dialog } from '../parts/dialog.tsx'
import { say } from '../parts/toast.tsx'
import { count } from '../text/figure.ts'

interface Props {
  readonly chosen: readonly Endpoint[]
  readonly onDone: () => void
}

/** What can be done to several endpoints at a time. */
export function Bulk({ chosen, onDone }: Props) {
  const [asking, setAsking] = useState<Endpoint['status'] | null>(null)
  const of = (status: Endpoint['status']): readonly Endpoint[] => chosen.filter(one => one.status === status)
  const [active, inactive] = [of('active'), of('inactive')]
  return (
    <div class="bulk" role="region" aria-label="Chosen endpoints">
      <span>{count(chosen.length, 'endpoint')} chosen</span>
      <button
        type="button"
        class="quiet small danger"
        disabled={active.length === 0}
        onClick={() => setAsking('inactive')}
      >
        Deactivate
      </button>
      <button
        type="button"
        class="quiet small"
        disabled={inactive.length === 0}
        onClick={() => setAsking('active')}
      >
        Activate
      </button>
      <button type="button" class="quiet small" onClick={onDone}>
        Clear
      </button>
      {asking !== null && (
        <StatusDialog
          status={asking}
          endpoints={asking === 'inactive' ? active : inactive}
          onClose={() => setAsking(null)}
          onDone={onDone}
        />
      )}
    </div>
  )
}

interface StatusProps {
  readonly status: Endpoint['status']
  readonly endpoints: readonly Endpoint[]
  readonly onClose: () => void
  readonly onDone: () => void
}

const SHOWN = 8

function StatusDialog({ status, endpoints, onClose, onDone }: StatusProps) {
  const what = count(endpoints.length, 'endpoint')
  const set = async (): Promise<void> => {
    await updateEndpoints(
      endpoints.map(({ endpointId }) => endpointId),
      { status },
    )
    say(`${what} ${status === 'active' ? 'activated' : 'deactivated'}`)
    onDone()
  }
  return (
    <Dialog
      title={`${status === 'active' ? 'Activate' : 'Deactivate'} ${what}`}
      action={status === 'active' ? 'Activate' : 'Deactivate'}
      danger={status === 'inactive'}
      onSubmit={set}
      onClose={onClose}
    >
      <p>
        {status === 'active'
          ? 'Their keys are accepted again.'
          : 'Their keys are refused, and their open sockets close, until they are activated again.'}
      </p>
      <ul>
        {endpoints.slice(0, SHOWN).map(({ endpointId, name }) => (
          <li key={endpointId}>{name}</li>
        ))}
        {endpoints.length > SHOWN && <li>and {count(endpoints.length - SHOWN, 'more endpoint')}</li>}
      </ul>
    </Dialog>
  )
}
