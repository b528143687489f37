import { isPrivateHost } from '../net/public-address.ts'
import { shownWebhook } from '../ports/alerts.ts'
import type { GatewayConfig } from '../snapshot/types.ts'
import { authorOf } from './author.ts'
import { webhookOrNull } from './checks.ts'
import { invalidParams, keyIsLimited } from './errors.ts'
import { isLimited } from './limited-key.ts'
import { readParams } from './params.ts'
import type { AccountCaller, ServiceDeps, ServiceReply } from './types.ts'

/** service_alerts: where events of the account are posted to (in short), and at which parts of its quota. */
export async function showAlerts(
  params: unknown,
  { account }: AccountCaller,
  { alerts, snapshot }: ServiceDeps,
): Promise<ServiceReply> {
  const read = readParams(params, {}, {})
  if ('error' in read) return read
  const url = (await alerts.webhook(account.id))?.url
  const plan = Object.hasOwn(snapshot.plans, account.plan) ? snapshot.plans[account.plan]! : null
  const { quota } = plan?.alerts ?? snapshot.gateway.alerts
  return {
    result: {
      webhook: url === undefined ? null : shownWebhook(url),
      quota: plan?.quota == null ? [] : quota,
    },
  }
}

/** service_setAlerts {webhook}: gives the account a webhook, or with null none. Its new secret is shown only now. */
export async function setAlerts(
  params: unknown,
  caller: AccountCaller,
  { alerts, snapshot }: ServiceDeps,
): Promise<ServiceReply> {
  if (isLimited(caller)) return keyIsLimited()
  const read = readParams(params, { webhook: webhookOrNull }, {})
  if ('error' in read) return read
  const { webhook } = read.values
  const why = webhook === null ? null : whyUnreachable(webhook, snapshot.gateway.alerts)
  if (why !== null) return invalidParams(why)
  const set = await alerts.setWebhook(caller.account.id, webhook, authorOf(caller))
  return {
    result: set === null ? { webhook: null } : { webhook: shownWebhook(set.url), secret: set.secret },
  }
}

/** What forbids a webhook's URL as far as that can be seen; where its host leads is checked when a message is sent. */
export function whyUnreachable(
  webhook: string,
  { allowPrivate }: Pick<GatewayConfig['alerts'], 'allowPrivate'>,
): string | null {
  if (allowPrivate) return null
  const url = new URL(webhook)
  if (url.protocol !== 'https:') return 'webhook must be https'
  return isPrivateHost(url)
    ? 'webhook must lead to a public address, not into the network of the gateway'
    : null
}
