/** Settings of gateway.yaml that are read once, at start. */
import type { GatewayConfig } from '../config/types.ts'

const AT_START = ['listen', 'admin', 'probes', 'dataDir', 'workers', 'timeouts'] as const

/** Names of changed settings that take effect only after a restart. */
export function restartOnly(before: GatewayConfig, after: GatewayConfig): string[] {
  const names: string[] = AT_START.filter(
    name => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  if (before.limits.socketCalls !== after.limits.socketCalls) names.push('limits.socketCalls')
  if ((before.tls === null) !== (after.tls === null)) names.push('tls')
  return names
}

/** Says so. */
export function restartNotice(names: readonly string[]): string {
  return `gateway.yaml: ${names.join(', ')}: the change takes effect after a restart`
}
