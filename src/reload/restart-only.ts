/** Settings of gateway.yaml that are read once, at start. */
import type { GatewayConfig } from '../config/types.ts'

const AT_START = ['listen', 'admin', 'probes', 'dataDir', 'workers', 'timeouts', 'node'] as const

/** What of the stores of several gateways is read again at a reload. */
const READ_AGAIN = new Set(['spool', 'accountsMaxAge', 'sync', 'away'])

/** Names of changed settings that take effect only after a restart. */
export function restartOnly(before: GatewayConfig, after: GatewayConfig): string[] {
  const names: string[] = AT_START.filter(
    name => JSON.stringify(before[name]) !== JSON.stringify(after[name]),
  )
  if (before.limits.socketCalls !== after.limits.socketCalls) names.push('limits.socketCalls')
  for (const store of ['postgres', 'redis'] as const)
    if (atStart(before[store]) !== atStart(after[store])) names.push(store)
  if ((before.tls === null) !== (after.tls === null)) names.push('tls')
  return names
}

function atStart(store: object | null): string {
  return JSON.stringify(store, (name, value: unknown) => (READ_AGAIN.has(name) ? undefined : value))
}

const RESTART_WORKERS =
  ' of the service; for `workers`, where several serve already, `POST /restart {"primary": true}` is enough'

/** Says so. */
export function restartNotice(names: readonly string[]): string {
  const notice = `gateway.yaml: ${names.join(', ')}: the change takes effect after a restart`
  return names.includes('workers') ? `${notice}${RESTART_WORKERS}` : notice
}
