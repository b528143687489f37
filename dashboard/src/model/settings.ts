/** Alerts and the audit trail of the account. */
import { service } from '../api/service.ts'
import { route } from '../route.ts'
import { resource } from './resource.ts'

/** Entries of a page of the trail. */
const PAGE = 15

export const alerts = resource(() => service('service_alerts'))

/** The entries before the one that the URL names; the newest otherwise. */
export const audit = resource(() => {
  const before = Number(route.value.query['before'])
  return service('service_audit', { limit: PAGE, ...(before > 0 ? { before } : {}) })
})

/** Posts events to this URL from now on, or with null nowhere; gives the secret that signs them. */
export async function setWebhook(webhook: string | null): Promise<string | null> {
  const { secret } = await service('service_setAlerts', { webhook })
  await alerts.load()
  return secret ?? null
}
