/** Usage, as the ledger tells it. */
import { signal } from '@preact/signals'
import { service } from '../api/service.ts'
import { resource } from './resource.ts'
import { spanOf } from '../usage/span.ts'
import type { Choice } from '../usage/span.ts'

const now = (): number => Math.floor(Date.now() / 1000)

/** Today in UTC, by the hour, with refusals told apart. */
export const today = resource(async () => {
  const at = now()
  return (await service('service_usage', { by: 'hour', from: at - (at % 86_400), to: at + 1, detail: true }))
    .rows
})

/** The last 24 hours, by the hour. */
export const lastDay = resource(async () => {
  const { from, to } = spanOf({ days: 1, by: 'hour' }, now())
  return { from, to, rows: (await service('service_usage', { by: 'hour', from, to })).rows }
})

/** What the usage page is asked to show. */
export const choice = signal<Choice>({ days: 1, by: 'hour' })
/** Only this endpoint; empty for all. */
export const onlyEndpoint = signal('')

export const usage = resource(async () => {
  const [{ by, ...rest }, endpointId] = [choice.value, onlyEndpoint.value]
  const { from, to } = spanOf({ by, ...rest }, now())
  const one = endpointId === '' ? {} : { endpointId }
  return { from, to, by, rows: (await service('service_usage', { by, from, to, ...one })).rows }
})
