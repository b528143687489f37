import { useMemo, useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import type { UsageRow } from '../api/types.ts'
import { endpoints } from '../model/account.ts'
import { choice, everyRow, onlyEndpoint, usage } from '../model/usage.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { say } from '../parts/toast.tsx'
import { UsagePlot } from '../parts/usage-plot.tsx'
import { figure, share } from '../text/figure.ts'
import { isoTime } from '../text/time.ts'
import { toCsv } from '../usage/csv.ts'
import { download } from '../usage/download.ts'
import { MOST_DAYS_BY_HOUR, SPANS, stepsOf } from '../usage/span.ts'
import type { Choice } from '../usage/span.ts'
import { sumOf } from '../usage/sums.ts'

/** Requests over time, by endpoint and by method. */
export function UsagePage() {
  return (
    <>
      <Heading title="Usage">
        <Csv />
      </Heading>
      <Awaited of={endpoints} what="your endpoints">
        {all => (
          <>
            <Choices all={all} />
            <Awaited of={usage} what="your usage">
              {known => (known.byEndpoint.length === 0 ? <NoUsage /> : <Plots {...known} />)}
            </Awaited>
          </>
        )}
      </Awaited>
    </>
  )
}

function choose(next: Choice): void {
  choice.value = next.days > MOST_DAYS_BY_HOUR ? { ...next, by: 'day' } : next
  void usage.load()
}

function Choices({ all }: { all: readonly { endpointId: string; name: string }[] }) {
  const { days, by } = choice.value
  return (
    <div class="choices-row">
      <div role="group" aria-label="Span">
        {SPANS.map(span => (
          <button
            key={span.days}
            type="button"
            class="quiet small"
            aria-pressed={span.days === days}
            onClick={() => choose({ days: span.days, by: span.days > 7 ? 'day' : 'hour' })}
          >
            {span.label}
          </button>
        ))}
      </div>
      <div role="group" aria-label="Step">
        {(['hour', 'day'] as const).map(step => (
          <button
            key={step}
            type="button"
            class="quiet small"
            aria-pressed={step === by}
            disabled={step === 'hour' && days > MOST_DAYS_BY_HOUR}
            onClick={() => choose({ days, by: step })}
          >
            by {step}
          </button>
        ))}
      </div>
      <select
        aria-label="Endpoint"
        value={onlyEndpoint.value}
        onChange={event => {
          onlyEndpoint.value = event.currentTarget.value
          void usage.load()
        }}
      >
        <option value="">All endpoints</option>
        {all.map(({ endpointId, name }) => (
          <option key={endpointId} value={endpointId}>
            {name}
          </option>
        ))}
      </select>
    </div>
  )
}

interface Known extends Pick<Choice, 'by'> {
  readonly from: number
  readonly to: number
  readonly byEndpoint: readonly UsageRow[]
  readonly byMethod: readonly UsageRow[]
}

function Plots({ from, to, by, byEndpoint, byMethod }: Known) {
  const names = endpoints.known.value.value
  const steps = useMemo(() => stepsOf(from, to, by), [from, to, by])
  const { calls, requests, errors } = sumOf(byEndpoint)
  return (
    <>
      <p class="facts">
        <span>
          <strong>{figure(requests)}</strong> requests
        </span>
        <span>
          <strong>{figure(calls)}</strong> calls
        </span>
        <span>
          <strong>{share(errors, calls)}</strong> errors
        </span>
        <span class="quiet-text">all times UTC</span>
      </p>
      <UsagePlot
        title="By endpoint"
        what="Endpoint"
        {...{ rows: byEndpoint, steps, by, names }}
        labelOf={row => nameOf(row.endpointId)}
      />
      <UsagePlot
        title="By method"
        what="Method"
        {...{ rows: byMethod, steps, by, names }}
        labelOf={({ method }) => method}
      />
    </>
  )
}

/** The endpoint's name; with its id where several have the same. */
function nameOf(endpointId: string): string {
  const all = endpoints.known.value.value ?? []
  const name = all.find(one => one.endpointId === endpointId)?.name
  if (name === undefined) return `deleted (${endpointId})`
  return all.filter(one => one.name === name).length > 1 ? `${name} (${endpointId})` : name
}

function Csv() {
  const known = usage.known.value.value
  const [busy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    if (known === null) return
    const day = (seconds: number): string => isoTime(seconds).slice(0, 10)
    const name = `tollgate-usage-${day(known.from)}-${day(known.to - 1)}.csv`
    setBusy(true)
    try {
      download(name, toCsv(await everyRow(), nameOf))
    } catch (error) {
      say(sentence(error))
    } finally {
      setBusy(false)
    }
  }
  return (
    <button
      type="button"
      class="quiet"
      disabled={busy || known === null || known.byEndpoint.length === 0}
      onClick={() => void save()}
    >
      Download CSV
    </button>
  )
}

function NoUsage() {
  return (
    <Empty title="No usage in this span">
      <p>Calls show up here as soon as they are answered. A longer span may hold some.</p>
    </Empty>
  )
}
