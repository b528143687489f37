import { useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Endpoint } from '../api/types.ts'
import { updateEndpoint } from '../model/account.ts'
import { changeOf, formOf } from '../text/restrictions.ts'
import type { Form } from '../text/restrictions.ts'
import { isoDay } from '../text/time.ts'
import { LinesField, NumberField } from './field.tsx'
import { say } from './toast.tsx'

/** What the key of an endpoint may be used for, and from where. What is not typed into follows the endpoint, which others may change, too. */
export function Restrictions(endpoint: Endpoint) {
  const [typed, setTyped] = useState<Partial<Form>>({})
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const now = formOf(endpoint)
  const form = { ...now, ...typed }
  const type = (change: Partial<Form>): void => setTyped(before => ({ ...before, ...change }))
  const typeOrigins = (origins: string): void =>
    // A key that lives in a web page is seen by everybody.
    type({ origins, ...(form.origins.trim() === '' && origins.trim() !== '' ? { manages: false } : {}) })
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await updateEndpoint(endpoint.endpointId, changeOf(now, form))
      // What was typed while it was being saved is not saved yet.
      setTyped(later =>
        Object.fromEntries(
          Object.entries(later).filter(([name, value]) => form[name as keyof Form] !== value),
        ),
      )
      say('Saved; it holds from now on')
    } catch (error) {
      setProblem(sentence(error))
    }
    setBusy(false)
  }
  return (
    <form class="restrictions" onSubmit={event => void save(event)}>
      <LinesField
        label="Allowed origins"
        note="web pages, one a line; empty allows all"
        placeholder="https://app.example.org"
        value={form.origins}
        onType={typeOrigins}
      />
      <LinesField
        label="Allowed addresses"
        note="IP addresses or ranges, one a line; empty allows all"
        placeholder="203.0.113.7 or 2001:db8::/32"
        value={form.addresses}
        onType={addresses => type({ addresses })}
      />
      <NumberField
        label="Request units a second"
        note="for this key alone; empty for the plan's rate"
        value={form.rate}
        onType={rate => type({ rate })}
      />
      <NumberField
        label="Request units a day"
        note="for this key alone, in UTC; empty for no limit but the quota"
        value={form.daily}
        onType={daily => type({ daily })}
      />
      <label>
        Key expires <small>as this day begins in UTC; empty for never</small>
        <input
          type="date"
          class={form.expires === '' ? 'unset' : ''}
          min={form.expires === now.expires ? undefined : isoDay(Date.now() / 1000 + 86_400)}
          value={form.expires}
          onInput={({ currentTarget: { validity, value } }) => {
            // A date that is typed by half has no value; the browser keeps the form from being sent.
            if (!validity.badInput) type({ expires: value })
          }}
        />
      </label>
      <label>
        <input
          type="checkbox"
          role="switch"
          checked={form.manages}
          onChange={event => type({ manages: event.currentTarget.checked })}
        />
        <span>
          May manage the account <small>service_* calls, and signing in here</small>
        </span>
      </label>
      {problem !== '' && (
        <p class="notice bad" role="alert">
          {problem}
        </p>
      )}
      <button type="submit" class="small" disabled={busy} aria-busy={busy}>
        Save
      </button>
    </form>
  )
}
