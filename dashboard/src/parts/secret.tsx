import { useEffect, useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Endpoint, Secrets } from '../api/types.ts'
import { reveal } from '../model/account.ts'
import { mask, maskUrl } from '../text/mask.ts'
import { CopyButton } from './copy-button.tsx'
import { say } from './toast.tsx'

/** Milliseconds after which a revealed key is hidden again. */
const SHOWN_FOR = 60_000

interface Shown {
  readonly secrets: Secrets | null
  readonly toggle: () => Promise<void>
  readonly forget: () => void
}

/** The secrets of an endpoint once they were asked for, and the switch that asks. */
export function useSecrets(endpointId: string): Shown {
  const [secrets, setSecrets] = useState<Secrets | null>(null)
  useEffect(() => {
    if (secrets === null) return
    const timer = setTimeout(() => setSecrets(null), SHOWN_FOR)
    return () => clearTimeout(timer)
  }, [secrets])
  const toggle = async (): Promise<void> => {
    try {
      setSecrets(secrets === null ? await reveal(endpointId) : null)
    } catch (error) {
      say(sentence(error))
    }
  }
  return { secrets, toggle, forget: () => setSecrets(null) }
}

/** Which secret of an endpoint. */
type Field = 'apiKey' | 'httpsUrl' | 'wssUrl'

interface Props {
  readonly endpoint: Endpoint
  readonly field: Field
  readonly label: string
  readonly secrets: Secrets | null
}

/** A key or URL on one line: masked until revealed, and copied either way. */
export function SecretLine({ endpoint, field, label, secrets }: Props) {
  const masked = field === 'apiKey' ? mask(endpoint) : maskUrl(endpoint[field], endpoint)
  return (
    <div class="secret">
      <span class="secret-label">{label}</span>
      <code class="secret-text" tabIndex={0} aria-label={label}>
        {secrets?.[field] ?? masked}
      </code>
      <CopyButton what={label} fetchText={async () => (await reveal(endpoint.endpointId))[field]} />
    </div>
  )
}

/** Shows the secrets, or hides them again. */
export function RevealButton({ name, secrets, toggle }: Omit<Shown, 'forget'> & { name: string }) {
  const word = secrets === null ? 'Reveal' : 'Hide'
  return (
    <button
      type="button"
      class="quiet small"
      aria-label={`${word} the key of ${name}`}
      onClick={() => void toggle()}
    >
      {word}
    </button>
  )
}
