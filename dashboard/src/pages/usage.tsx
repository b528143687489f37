import { useCallback, useEffect, useLayoutEffect, useRef, useState } from 'preact/hooks'
import { sentence } from '../api/failure.ts'
import { endpointName, endpoints } from '../model/account.ts'
import { keepFresh } from '../model/fresh.ts'
import { networkName, networks } from '../model/networks.ts'
import { choice, everyRow, usage } from '../model/usage.ts'
import type { Usage } from '../model/usage.ts'
import { Awaited } from '../parts/awaited.tsx'
import { Empty } from '../parts/empty.tsx'
import { Heading } from '../parts/heading.tsx'
import { say } from '../parts/toast.tsx'
import { linkTo } from '../address.ts'
import { route } from '../route.ts'
import { reasonName } from '../text/reasons.ts'
import { isoDay } from '../text/time.ts'
import { toCsv } from '../usage/csv.ts'
import { download } from '../usage/download.ts'
import { Filters } from '../usage/filters.tsx'
import { UsagePlot } from '../usage/plot.tsx'
import { Refusals } from '../usage/reasons.tsx'
import { Totals } from '../usage/totals.tsx'

/** What was used over time, split, filtered and compared. */
export function UsagePage() {
  useEffect(() => keepFresh(networks), [])
  useLoadOnChange()
  return (
    <>
      <Heading title="Usage">
        <Csv />
      </Heading>
      <Awaited of={endpoints} what="your endpoints">
        {all => (
          <>
            <Filters all={all} choice={choice.value} />
            <Awaited of={usage} what="your usage">
              {known => (known.groups.length === 0 ? <NoUsage /> : <Shown {...known} />)}
            </Awaited>
          </>
        )}
      </Awaited>
    </>
  )
}

/** Fetches anew when the URL asks for something else; the first time `Awaited` does. */
function useLoadOnChange(): void {
  const isFirst = useRef(true)
  // What is on its way was asked for by a page that was left, and would be taken for what this one asks.
  useLayoutEffect(() => {
    if (usage.known.peek().busy) usage.clear()
  }, [])
  // Which page of the table is shown makes no other question.
  const key = JSON.stringify({ ...route.value.query, page: '' })
  useEffect(() => {
    if (!isFirst.current) void usage.load()
    isFirst.current = false
  }, [key])
}

function Shown(known: Usage) {
  const { split } = known.choice
  const [all, served] = [endpoints.known.value.value, networks.known.value.value]
  const nameOf = useCallback(
    (id: string) =>
      ({ endpoint: endpointName, network: networkName, reason: reasonName, method: (id: string) => id })[
        split
      ](id),
    [split, all, served],
  )
  return (
    <>
      <Totals {...known} />
      <UsagePlot {...known} nameOf={nameOf} />
      <Refusals rows={known.groups} />
    </>
  )
}

function Csv() {
  const known = usage.known.value.value
  const [busy, setBusy] = useState(false)
  const save = async (): Promise<void> => {
    const { span, split } = choice.peek()
    setBusy(true)
    try {
      const text = toCsv(await everyRow(), split, endpointName)
      download(`usage-by-${split}-${isoDay(span.from)}-${isoDay(span.to - 1)}.csv`, text)
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
      disabled={busy || known === null || known.groups.length === 0}
      onClick={() => void save()}
    >
      Download CSV
    </button>
  )
}

function NoUsage() {
  return (
    <Empty title="No usage in this span">
      <p>
        Calls show up here as soon as they are answered.{' '}
        <a href={linkTo('usage', '', { range: '90d' })}>The last 90 days of all endpoints</a> may hold some.
      </p>
    </Empty>
  )
}
