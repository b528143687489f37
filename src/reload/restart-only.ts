/** Settings of gateway.yaml that are read once, at start. */
import type { GatewayConfig } from '../config/types.ts'

const AT_START = ['listen', 'admin', 'dataDir', 'tls', 'timeouts'] as const

/** Names of changed settings that act only after a restart. */
export function restartOnly(before: GatewayConfig, after: GatewayConfig): string[] {
  const names: string[] = AT_START.filter(
    name => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  for (const limit of ['connections', 'socketCalls'] as const)
    if (before.limits[limit] !== after.limits[limit]) names.push(`limits.${limit}`)
  return names
}
