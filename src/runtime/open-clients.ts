/** The listener of clients as `serve` has it: with the dashboard, whose files are beside the program. */
import { fileURLToPath } from 'node:url'
import type { Gateway } from '../call/gateway.ts'
import { packageFile } from '../config/package-file.ts'
import type { GatewayConfig } from '../config/types.ts'
import type { Certificate } from '../http/certificate.ts'
import { loadAssets } from '../http/dashboard/asset.ts'
import { makeDashboard } from '../http/dashboard/dashboard.ts'
import { makePublicListener } from '../http/public-listener.ts'
import type { PublicListener } from '../http/public-listener.ts'
import type { ByteBudget } from '../limits/byte-budget.ts'
import type { Logger } from '../observe/log.ts'
import type { Metrics } from '../observe/metrics.ts'
import type { Holdings } from '../ports/holdings.ts'
import type { AccountStore } from '../stores/sqlite/accounts/store.ts'
import type { Charging } from '../stores/sqlite/usage/charging.ts'
import { registerBacklog } from './admin/gauges.ts'

const FILES = fileURLToPath(packageFile('dist/dashboard/'))

/** What a process has for its clients. */
export interface ClientParts {
  readonly accounts: AccountStore
  readonly certificate: Certificate | null
  readonly memory: ByteBudget
  /** Who holds how many connections; undefined: counted in this process. */
  readonly connections: Holdings | undefined
  readonly charging: Charging
  readonly metrics: Metrics
  readonly log: Logger
}

/** Makes the listener; it is not bound yet. */
export function openClients(
  gateway: Gateway,
  settings: GatewayConfig,
  { accounts, certificate, memory, connections, charging, metrics, log }: ClientParts,
): PublicListener {
  const { signIns, sessions, accounts: owners } = accounts
  const assets = loadAssets(FILES)
  registerBacklog(metrics, () => charging.counters.contents().length)
  return makePublicListener(gateway, settings, {
    certificate,
    memory,
    ...(connections && { holdings: connections }),
    openDashboard: address =>
      makeDashboard(assets, { gateway, signIns, sessions, accounts: owners, address }),
    // Limits would count all clients of the proxy as one.
    onIgnoredProxy: peer => {
      log.warn(
        { peer },
        'X-Forwarded-For and X-Forwarded-Proto are ignored: this peer is not in trustedProxies',
      )
    },
  })
}
