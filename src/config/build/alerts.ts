import { ALERT_EVENTS } from '../alerts.ts'
import type { AlertsConfig } from '../alerts.ts'
import type { RawGateway } from '../raw-config.ts'
import { percentage } from '../words/units.ts'

/** What gateway.yaml says of alerts, with its defaults. */
export function buildAlerts({
  webhook,
  secret,
  quota = ['75%', '90%', '100%'],
  events = ALERT_EVENTS,
  allowPrivate = false,
}: NonNullable<RawGateway['alerts']>): AlertsConfig {
  return {
    webhook: webhook === undefined || secret === undefined ? null : { url: webhook, secret },
    quota: buildThresholds(quota),
    events,
    allowPrivate,
  }
}

/** Parts of a quota, the smallest first. */
export function buildThresholds(written: readonly string[]): readonly number[] {
  return written.map(each => percentage(each)!).sort((a, b) => a - b)
}
