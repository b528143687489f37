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

const RESTART_WORKERS =
  ' of the service; for `workers`, where several serve already, `POST /restart {"primary": true}` is enough'

/** Says so. */
export function restartNotice(names: readonly string[]): string {
  const notice = `gateway.yaml: ${names.join(', ')}: the change takes effect after a restart`
  return names.includes('workers') ? `${notice}${RESTART_WORKERS}` : notice
}
