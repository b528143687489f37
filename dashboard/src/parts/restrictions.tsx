import { useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { Endpoint } from '../api/types.ts'
import { updateEndpoint } from '../model/account.ts'
import { isoDay } from '../text/time.ts'
import { say } from './toast.tsx'

const lines = (list: readonly string[] | null): string => (list ?? []).join('\n')

/** One a line; nothing means anything goes. */
function list(text: string): string[] | null {
  const items = text.split(/[\s,]+/).filter(item => item !== '')
  return items.length === 0 ? null : items
}

const digits = (limit: number | null): string => (limit === null ? '' : String(limit))

/** Nothing means no limit. */
function number(text: string): number | null {
  return text.trim() === '' ? null : Number(text)
}

/** What the key of an endpoint may be used for, and from where. */
export function Restrictions({ endpointId, allowedOrigins, allowedIps, management, ...limits }: Endpoint) {
  const [origins, setOrigins] = useState(lines(allowedOrigins))
  const [addresses, setAddresses] = useState(lines(allowedIps))
  const [manages, setManages] = useState(management)
  const [rate, setRate] = useState(digits(limits.perSecond))
  const [daily, setDaily] = useState(digits(limits.dailyLimit))
  const before = limits.expiresAt === null ? '' : isoDay(limits.expiresAt)
  const [expires, setExpires] = useState(before)
  const [problem, setProblem] = useState('')
  const [busy, setBusy] = useState(false)
  const typeOrigins = (text: string): void => {
    // A key that lives in a web page is seen by everybody.
    if (origins.trim() === '' && text.trim() !== '') setManages(false)
    setOrigins(text)
  }
  const save = async (event: Event): Promise<void> => {
    event.preventDefault()
    setBusy(true)
    setProblem('')
    try {
      await updateEndpoint(endpointId, {
        ...{ allowedOrigins: list(origins), allowedIps: list(addresses), management: manages },
        ...{ perSecond: number(rate), dailyLimit: number(daily) },
        // An end at another hour than midnight stays as it is, unless its day is changed.
        ...(expires === before
          ? {}
          : { expiresAt: expires === '' ? null : Date.parse(`${expires}T00:00Z`) / 1000 }),
      })
      say('Saved; it holds from now on')
    } catch (error) {
      setProblem(sentence(error))
    }
    setBusy(false)
  }
  return (
    <form class="restrictions" onSubmit={event => void save(event)}>
      <label>
        Allowed origins <small>web pages, one a line; empty allows all</small>
        <textarea
          rows={2}
          spellcheck={false}
          placeholder="https://app.example.org"
          value={origins}
          onInput={event => typeOrigins(event.currentTarget.value)}
        />
      </label>
      <label>
        Allowed addresses <small>IP addresses or ranges, one a line; empty allows all</small>
        <textarea
          rows={2}
          spellcheck={false}
          placeholder="203.0.113.7 or 2001:db8::/32"
          value={addresses}
          onInput={event => setAddresses(event.currentTarget.value)}
        />
      </label>
      <label>
        Requests a second <small>for this key alone; empty for the plan's rate</small>
        <input
          type="number"
          min={1}
          max={1_000_000}
          step={1}
          inputMode="numeric"
          value={rate}
          onInput={event => setRate(event.currentTarget.value)}
        />
      </label>
      <label>
        Requests a day <small>for this key alone, in UTC; empty for no limit but the quota</small>
        <input
          type="number"
          min={1}
          max={Number.MAX_SAFE_INTEGER}
          step={1}
          inputMode="numeric"
          value={daily}
          onInput={event => setDaily(event.currentTarget.value)}
        />
      </label>
      <label>
        Key expires <small>as this day begins in UTC; empty for never</small>
        <input
          type="date"
          class={expires === '' ? 'unset' : ''}
          min={isoDay(Date.now() / 1000 + 86_400)}
          value={expires}
          onInput={event => setExpires(event.currentTarget.value)}
        />
      </label>
      <label>
        <input
          type="checkbox"
          role="switch"
          checked={manages}
          onChange={event => setManages(event.currentTarget.checked)}
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
