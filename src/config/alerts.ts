/** What webhooks are told, as gateway.yaml says it. */

/** Kinds of events. */
export const ALERT_EVENTS = [
  'quota.threshold',
  'account.suspended',
  'key.rotated',
  'network.down',
  'network.up',
] as const

/** One of them. */
export type AlertEvent = (typeof ALERT_EVENTS)[number]

/** What is told, and to whom. */
export interface AlertsConfig {
  /** The operator's own, and what signs its messages (`whsec_…`); both are secrets. Null is none. */
  readonly webhook: { readonly url: string; readonly secret: string } | null
  /** Parts of a quota that are told when they are used, from 0 to 1. */
  readonly quota: readonly number[]
  readonly events: readonly AlertEvent[]
  /** Whether the webhooks of accounts may lead to private addresses, and need no TLS. */
  readonly allowPrivate: boolean
}
