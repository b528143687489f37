/** Usage, as the ledger tells it. */
import { signal } from '@preact/signals'
import { service } from '../api/service.ts'
import type { UsageRow } from '../api/types.ts'
import { resource } from './resource.ts'
import { COLOURS } from '../usage/series.ts'
import { spanOf } from '../usage/span.ts'
import type { Choice } from '../usage/span.ts'

const now = (): number => Math.floor(Date.now() / 1000)

/** Today in UTC by endpoint, with refusals by reason. */
export const today = resource(async () => {
  const at = now()
  const span = { by: 'hour', from: at - (at % 86_400), to: at + 1 } as const
  return (await service('service_usage', { ...span, groupBy: ['endpoint'], detail: true })).rows
})

/** The last 24 hours, by the hour. */
export const lastDay = resource(async () => {
  const { from, to } = spanOf({ days: 1, by: 'hour' }, now())
  return {
    from,
    to,
    rows: (await service('service_usage', { by: 'hour', from, to, groupBy: ['time'] })).rows,
  }
})

/** What the usage page is asked to show. */
export const choice = signal<Choice>({ days: 1, by: 'hour' })
/** Only this endpoint; empty for all. */
export const onlyEndpoint = signal('')

/** The busiest endpoints and methods over time. */
export const usage = resource(async () => {
  const asked = askedFor()
  const sums = async (column: 'endpoint' | 'method') =>
    (await service('service_usage', { ...asked, groupBy: ['time', column], top: COLOURS + 1 })).rows
  const [byEndpoint, byMethod] = await Promise.all([sums('endpoint'), sums('method')])
  return { ...asked, byEndpoint, byMethod }
})

/** Every row of what the usage page shows, page by page. */
export async function everyRow(): Promise<readonly UsageRow[]> {
  const asked = askedFor()
  const rows: UsageRow[] = []
  let cursor: string | undefined
  do {
    const page = await service('service_usage', { ...asked, ...(cursor === undefined ? {} : { cursor }) })
    rows.push(...page.rows)
    cursor = page.cursor
  } while (cursor !== undefined)
  return rows
}

function askedFor() {
  const [{ by, ...rest }, endpointId] = [choice.value, onlyEndpoint.value]
  return { by, ...spanOf({ by, ...rest }, now()), ...(endpointId === '' ? {} : { endpointId }) }
}
