/**
 * What a key with limits may manage. A key identifies its account and management is free, so otherwise its holder
 * could lift the limits, or take an endpoint or key that has none.
 */
import type { Endpoint, EndpointChange } from '../ports/endpoints.ts'
import type { AccountCaller } from './types.ts'

type Limits = Pick<Endpoint, 'dailyLimit' | 'perSecond' | 'expiresAt' | 'allowedIps' | 'allowedOrigins'>

/** Whether the call was made with a key that has limits of its own. The dashboard token and the operator have none. */
export function isLimited({ endpoint }: AccountCaller): boolean {
  return endpoint != null && hasLimits(endpoint)
}

/** Whether the caller may see the key of an endpoint of its account, change it or delete it. */
export function mayManage(caller: AccountCaller, endpointId: string): boolean {
  return caller.endpoint?.id === endpointId || !isLimited(caller)
}

/** Whether a change loosens what the endpoint's own key may do. */
export function loosens(before: Endpoint, change: EndpointChange): boolean {
  return (
    isHigher(before.dailyLimit, change.dailyLimit) ||
    isHigher(before.perSecond, change.perSecond) ||
    isHigher(before.expiresAt, change.expiresAt) ||
    isWider(before.allowedIps, change.allowedIps) ||
    isWider(before.allowedOrigins, change.allowedOrigins) ||
    (change.management === true && !before.management) ||
    (change.status === 'active' && before.status === 'inactive')
  )
}

function hasLimits({ dailyLimit, perSecond, expiresAt, allowedIps, allowedOrigins }: Limits): boolean {
  return [dailyLimit, perSecond, expiresAt, allowedIps, allowedOrigins].some(limit => limit !== null)
}

function isHigher(before: number | null, after: number | null | undefined): boolean {
  return before !== null && after !== undefined && (after === null || after > before)
}

function isWider(before: readonly string[] | null, after: readonly string[] | null | undefined): boolean {
  if (before === null || after === undefined) return false
  return after === null || after.some(entry => !before.includes(entry))
}
